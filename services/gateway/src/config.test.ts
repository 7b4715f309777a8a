import { readConfig } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { GatewayConfig } from './config.ts'
import { secret } from './testing.ts'

const env = {
  INTERNAL_SECRET: secret,
  ORGANIZATIONS_URL: 'http://organizations:8080',
  FORMS_URL: 'http://forms:8080/',
  NATS_URL: 'nats://gateway:secret@nats:4222',
}

describe('GatewayConfig', () => {
  it('takes the addresses of the services, and defaults for the rest', () => {
    expect(readConfig(GatewayConfig, env)).toMatchObject({
      ORGANIZATIONS_URL: 'http://organizations:8080',
      FORMS_URL: 'http://forms:8080',
      PUBLISH_TIMEOUT_MS: 10_000,
      RATE_LIMIT_PER_MINUTE: 6_000,
    })
  })

  it.each(['http://forms:8080/v2', 'forms:8080', 'nowhere'])('refuses %s as an address', (url) => {
    expect(() => readConfig(GatewayConfig, { ...env, FORMS_URL: url })).toThrow(
      'FORMS_URL must be http://host:port',
    )
  })
})
