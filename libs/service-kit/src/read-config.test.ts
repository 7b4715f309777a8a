import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  ConfigError,
  internalSecretsOf,
  readConfig,
  ServiceConfig,
  sampleInternalSecret,
} from './read-config.ts'

const INTERNAL_SECRET = 's'.repeat(32)

describe('readConfig', () => {
  it('fills in what has a default, also for empty variables', () => {
    expect(readConfig(ServiceConfig, { INTERNAL_SECRET, HOST: '', PATH: '/bin' })).toEqual({
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
  ])('writes, on a terminal (%s), %s', (isTTY, format) => {
    const before = process.stdout.isTTY
    process.stdout.isTTY = isTTY
    try {
      expect(readConfig(ServiceConfig, { INTERNAL_SECRET }).LOG_FORMAT).toBe(format)
      expect(readConfig(ServiceConfig, { INTERNAL_SECRET, LOG_FORMAT: 'json' }).LOG_FORMAT).toBe('json')
    } finally {
      process.stdout.isTTY = before
    }
  })

  it('names every variable that is missing or wrong, and no secret', () => {
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

  it('has the one that signs first, and the other one where there is one', () => {
    expect(secretsOf(other)).toEqual([INTERNAL_SECRET, other])
    expect(secretsOf('')).toEqual([INTERNAL_SECRET])
    expect(secretsOf()).toEqual([INTERNAL_SECRET])
  })

  it('asks of the other one what it asks of the first', () => {
    expect(() => secretsOf('too short')).toThrow(/INTERNAL_SECRET_ALSO_ACCEPTED must have at least 32 bytes/)
    expect(() => secretsOf(sampleInternalSecret)).toThrow(/INTERNAL_SECRET_ALSO_ACCEPTED is the sample/)
  })
})

describe('the sample of INTERNAL_SECRET', () => {
  const example = readFileSync(join(import.meta.dirname, '../../../.env.example'), 'utf8')
  const sample = { INTERNAL_SECRET: parseEnv(example).INTERNAL_SECRET }

  afterEach(() => vi.unstubAllEnvs())

  it.each(['production', 'test', '', undefined])('is refused where NODE_ENV is %j', (environment) => {
    vi.stubEnv('NODE_ENV', environment)

    expect(() => readConfig(ServiceConfig, sample)).toThrow(/INTERNAL_SECRET is the sample of \.env\.example/)
  })

  it('is taken in development', () => {
    vi.stubEnv('NODE_ENV', 'development')

    expect(readConfig(ServiceConfig, sample)).toMatchObject(sample)
  })
})
