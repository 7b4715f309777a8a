import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ConfigError, internalSecretsOf, readConfig, ServiceConfig } from './config.ts'

const INTERNAL_SECRET = 's'.repeat(32)

describe('readConfig', () => {
  it('uses defaults for missing, empty and blank variables', () => {
    expect(readConfig(ServiceConfig, { INTERNAL_SECRET, HOST: '', DRAIN_MS: ' ', PATH: '/bin' })).toEqual({
      INTERNAL_SECRET,
      HOST: '127.0.0.1',
      PORT: 8080,
      DRAIN_MS: 4_000,
      LOG_LEVEL: 'info',
      LOG_FORMAT: expect.stringMatching(/^(json|pretty)$/),
    })
  })

  it.each([
    [true, 'pretty'],
    [false, 'json'],
  ])('defaults LOG_FORMAT by whether standard output is a terminal: %s, %s', (isTTY, format) => {
    const before = process.stdout.isTTY
    process.stdout.isTTY = isTTY
    try {
      expect(readConfig(ServiceConfig, { INTERNAL_SECRET }).LOG_FORMAT).toBe(format)
      expect(readConfig(ServiceConfig, { INTERNAL_SECRET, LOG_FORMAT: 'json' }).LOG_FORMAT).toBe('json')
    } finally {
      process.stdout.isTTY = before
    }
  })

  it('names every missing or invalid variable, and no secret', () => {
    const env = { INTERNAL_SECRET: 'too short', PORT: '65536', LOG_LEVEL: 'loud' }

    expect(() => readConfig(ServiceConfig, env)).toThrow(ConfigError)
    expect(() => readConfig(ServiceConfig, env)).toThrow(
      /PORT .*\n {2}INTERNAL_SECRET must have at least 32 bytes\n {2}LOG_LEVEL must be/,
    )
    expect(() => readConfig(ServiceConfig, env)).not.toThrow(/too short/)
    expect(() => readConfig(ServiceConfig, {})).toThrow(
      /INTERNAL_SECRET is required: at least 32 random bytes/,
    )
  })
})

describe('internalSecretsOf', () => {
  const other = 't'.repeat(32)
  const secretsOf = (also?: string) =>
    internalSecretsOf(readConfig(ServiceConfig, { INTERNAL_SECRET, INTERNAL_SECRET_ALSO_ACCEPTED: also }))

  it('lists the signing secret first, then the other one if it is set', () => {
    expect(secretsOf(other)).toEqual([INTERNAL_SECRET, other])
    expect(secretsOf('')).toEqual([INTERNAL_SECRET])
    expect(secretsOf()).toEqual([INTERNAL_SECRET])
  })

  it('applies the same rules to the other secret', () => {
    expect(() => secretsOf('too short')).toThrow(/INTERNAL_SECRET_ALSO_ACCEPTED must have at least 32 bytes/)
  })
})

describe('readConfig with samples of .env.example', () => {
  const schema = ServiceConfig.extend({ NATS_URL: z.string() })
  const sample = {
    INTERNAL_SECRET: 'sample-secret-to-be-replaced-before-any-use',
    INTERNAL_SECRET_ALSO_ACCEPTED: INTERNAL_SECRET,
    NATS_URL: 'nats://forms:sample@nats:4222',
  }

  it.each(['production', 'test', '', undefined])('rejects them by name where NODE_ENV is %j', (NODE_ENV) => {
    expect(() => readConfig(schema, { ...sample, NODE_ENV })).toThrow(
      /\n {2}INTERNAL_SECRET is a sample of \.env\.example.*\n {2}NATS_URL is a sample.*[^\n]$/,
    )
  })

  it('reports them along with invalid variables', () => {
    expect(() => readConfig(schema, { ...sample, PORT: '65536' })).toThrow(
      /PORT .*\n {2}INTERNAL_SECRET is a sample/,
    )
  })

  it('accepts them in development', () => {
    expect(readConfig(schema, { ...sample, NODE_ENV: 'development' })).toMatchObject(sample)
  })
})
