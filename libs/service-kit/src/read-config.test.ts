import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig, ServiceConfig } from './read-config.ts'

const INTERNAL_SECRET = 's'.repeat(32)

describe('readConfig', () => {
  it('fills in what has a default, also for empty variables', () => {
    expect(readConfig(ServiceConfig, { INTERNAL_SECRET, HOST: '', PATH: '/bin' })).toEqual({
      INTERNAL_SECRET,
      HOST: '127.0.0.1',
      PORT: 8080,
      LOG_LEVEL: 'info',
    })
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
