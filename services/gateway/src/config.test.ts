import { readConfig } from '@fms/service-kit'
import { describe, expect, it } from 'vitest'
import { GatewayConfig } from './config.ts'
import { secret } from './testing.ts'

const env = {
  INTERNAL_SECRET: secret,
  ORGANIZATIONS_URL: 'http://organizations:8080',
  FORMS_URL: 'http://forms:8080/',
  NATS_URL: 'nats://gateway:secret@nats:4222',
  PUBLIC_FORM_BASE_URL: 'https://forms.example.com/f/',
}

describe('GatewayConfig', () => {
  it('reads the origins of services, and has defaults for the rest', () => {
    expect(readConfig(GatewayConfig, env)).toMatchObject({
      ORGANIZATIONS_URL: 'http://organizations:8080',
      FORMS_URL: 'http://forms:8080',
      PUBLIC_FORM_BASE_URL: 'https://forms.example.com/f',
      PUBLISH_TIMEOUT_MS: 10_000,
      RATE_LIMIT_PER_MINUTE: 6_000,
    })
  })

  it.each([
    [undefined, 'is required'],
    ['forms.example.com/f', 'must be a URL'],
    ['https://forms.example.com/f?a=1', 'must be a URL'],
    ['https://forms.example.com/f#a', 'must be a URL'],
  ])('rejects the base %s of public URLs', (url, problem) => {
    expect(() => readConfig(GatewayConfig, { ...env, PUBLIC_FORM_BASE_URL: url })).toThrow(
      `PUBLIC_FORM_BASE_URL ${problem}`,
    )
  })

  it.each(['http://forms:8080/v2', 'forms:8080', 'nowhere'])('rejects the origin %s of a service', (url) => {
    expect(() => readConfig(GatewayConfig, { ...env, FORMS_URL: url })).toThrow(
      'FORMS_URL must be http://host:port',
    )
  })

  it.each([
    [undefined, []],
    ['', []],
    ['*', '*'],
    ['https://app.example.com', ['https://app.example.com']],
    ['http://localhost:5173, https://[::1]:8443', ['http://localhost:5173', 'https://[::1]:8443']],
  ])('accepts the CORS origins %s', (origins, expected) => {
    expect(readConfig(GatewayConfig, { ...env, CORS_ORIGINS: origins }).CORS_ORIGINS).toEqual(expected)
  })

  it.each([
    ['https://app.example.com/', 'https://app.example.com'],
    ['https://app.example.com/page', 'https://app.example.com'],
    ['https://App.example.com:443', 'https://app.example.com'],
    ['app.example.com', 'scheme://host or scheme://host:port, such as https://app.example.com'],
    ['null', 'scheme://host'],
    ['https://*.example.com', 'scheme://host'],
    ['https://a.example, *', 'scheme://host'],
    ['https://a.example,', 'scheme://host'],
  ])('rejects the CORS origins %s with an example', (origins, advice) => {
    expect(() => readConfig(GatewayConfig, { ...env, CORS_ORIGINS: origins })).toThrow(
      new RegExp(`CORS_ORIGINS names ".*", which is not an origin: write ${advice}`),
    )
  })

  it('accepts no wildcard for the images of forms', () => {
    const read = (origins: string) =>
      readConfig(GatewayConfig, { ...env, PUBLIC_FORM_IMAGE_ORIGINS: origins })

    expect(read('https://a.example, https://b.example').PUBLIC_FORM_IMAGE_ORIGINS).toHaveLength(2)
    expect(() => read('*')).toThrow('PUBLIC_FORM_IMAGE_ORIGINS names "*", which is not an origin')
  })
})
