import { describe, expect, it } from 'vitest'
import { startGateway } from '../testing.ts'

const curl = { 'user-agent': 'curl/8.14.1', accept: '*/*' }
const long = { text: 'x'.repeat(1_000_000) }

describe('a JSON body', () => {
  it.each([
    ['a short one', '/v2/organizations/acme/forms', { forms: [] }],
    ['a long one', '/v2/organizations/acme/forms', long],
  ])('ends with a newline for curl, included in content-length: %s', async (_, path, body) => {
    await using gateway = await startGateway()
    gateway.forms.respond = () => body
    const get = (headers: Record<string, string>) => gateway.send('GET', path, { headers })

    const [toCurl, toOthers] = [await get(curl), await get({ 'user-agent': 'node', accept: '*/*' })]

    expect(toOthers.text).toBe(JSON.stringify(body))
    expect(toCurl.text).toBe(`${toOthers.text}\n`)
    expect(Number(toCurl.headers['content-length'])).toBe(Buffer.byteLength(toCurl.text))
  })

  it.each(['/v2/organizations', '/v2/openapi.json', '/healthz', '/nothing'])(
    'of the gateway itself ends with a newline: %s',
    async (path) => {
      await using gateway = await startGateway()

      const { text, headers, json } = await gateway.send('GET', path, { as: '', headers: curl })

      expect(text).toMatch(/\}\n$/)
      expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
      expect(json()).toBeTypeOf('object')
    },
  )

  it.each<[string, string, Record<string, string>]>([
    ['when it is compressed', '/v2/openapi.json', { 'accept-encoding': 'gzip' }],
    ['when it is empty', '/', {}],
    ['when it is not JSON', '/v2/docs', {}],
  ])('is unchanged %s', async (_, path, headers) => {
    await using gateway = await startGateway()
    const get = (agent: Record<string, string>) =>
      gateway.send('GET', path, { as: '', headers: { ...headers, ...agent } })

    expect((await get(curl)).text).toBe((await get({})).text)
  })

  it('stays empty for HEAD and 304', async () => {
    await using gateway = await startGateway()
    const { headers } = await gateway.send('GET', '/v2/openapi.json', { as: '', headers: curl })
    const same = { ...curl, 'if-none-match': String(headers.etag) }

    const unchanged = await gateway.send('GET', '/v2/openapi.json', { as: '', headers: same })
    const head = await gateway.send('HEAD', '/v2/openapi.json', { as: '', headers: curl })

    expect([unchanged.status, unchanged.text, head.status, head.text]).toEqual([304, '', 200, ''])
  })
})
