import { forEveryUser } from '@fms/testkit/nats-users'
import { describe, expect, it } from 'vitest'
import { services, urlOf } from './services.ts'
import { readStartConfig } from './start-config.ts'

const base = (env: NodeJS.ProcessEnv): Set<string | undefined> => {
  const natsUrls = forEveryUser(() => 'nats://127.0.0.1:4222')
  const all = services({
    config: readStartConfig(env),
    internalSecret: 's'.repeat(32),
    natsUrls,
    ports: [1, 2, 3],
  })
  return new Set(all.map((service) => service.env?.PUBLIC_FORM_BASE_URL))
}

describe('urlOf', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8090'],
    ['forms.example', 'http://forms.example:8090'],
    ['192.168.1.7', 'http://192.168.1.7:8090'],
    ['::1', 'http://[::1]:8090'],
    ['0.0.0.0', 'http://127.0.0.1:8090'],
    ['::', 'http://127.0.0.1:8090'],
    ['0:0:0:0:0:0:0:0', 'http://127.0.0.1:8090'],
  ])('reaches %s at %s', (host, url) => {
    expect(urlOf(host, 8090)).toBe(url)
  })
})

describe('the base of public URLs', () => {
  it('follows HOST and PORT', () => {
    expect(base({ PORT: '8090' })).toEqual(new Set(['http://127.0.0.1:8090/f']))
    expect(base({ HOST: '::1' })).toEqual(new Set(['http://[::1]:8080/f']))
    expect(base({ HOST: '0.0.0.0' })).toEqual(new Set(['http://127.0.0.1:8080/f']))
  })

  it('ignores blank variables', () => {
    const blank = Object.fromEntries(
      ['PUBLIC_FORM_BASE_URL', 'NATS_URL', 'FORMS_STORE_URL', 'INTERNAL_SECRET'].map((name) => [name, ' ']),
    )

    expect(base(blank)).toEqual(base({}))
  })

  it('is PUBLIC_FORM_BASE_URL if it is set', () => {
    const url = 'https://forms.example/fill'

    expect(base({ PORT: '8090', PUBLIC_FORM_BASE_URL: url })).toEqual(new Set([url]))
  })
})
