import { describe, expect, it } from 'vitest'
import { bannerOf, systemOf } from './banner.ts'

const origin = 'http://127.0.0.1:8080'
const demo = { organizationSlug: 'demo', apiKey: 'fms_secret', loginCode: 'once' }
const system = systemOf(origin, demo, 'nats://events:password@127.0.0.1:4222')
const secrets = ['fms_secret', 'once', 'password']

describe('the banner', () => {
  it('has secrets on a terminal, with a command to paste', () => {
    const banner = bannerOf(system)

    for (const secret of secrets) expect(banner).toContain(secret)
    expect(banner).toContain(`\n  curl -H 'x-api-key: fms_secret' ${origin}/v2/organizations/demo/forms\n`)
  })

  it('elsewhere says in which file they are', () => {
    const banner = bannerOf(system, '/srv/forms/system.json')

    for (const secret of secrets) expect(banner).not.toContain(secret)
    expect(banner).toMatch(/^ {2}Demo key +in \/srv\/forms\/system\.json$/m)
    expect(banner).toMatch(/^ {2}Console +http:\/\/127\.0\.0\.1:8080\/v2\/console$/m)
  })

  it('says how to replace a revoked demo key', () => {
    expect(bannerOf(systemOf(origin, { organizationSlug: 'demo', loginCode: undefined }, undefined))).toMatch(
      /Demo key +revoked; npm run formctl/,
    )
  })

  it('names no demo where there is none', () => {
    const banner = bannerOf(systemOf(origin, undefined, undefined))

    expect(banner).not.toMatch(/demo/i)
    expect(banner).toContain('npm run formctl -- --help')
  })
})
