import { describe, expect, it } from 'vitest'
import { reasonOf, startGateway } from '../testing.ts'

const withoutKey = { as: '' }

describe('GET /', () => {
  it.each(['/', '/?from=somewhere'])('redirects %s to the reference page, without a key', async (path) => {
    await using gateway = await startGateway()

    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await gateway.send(method, path, withoutKey)
      expect({ status, location: headers.location, text }).toEqual({
        status: 302,
        location: 'v2/docs',
        text: '',
      })
    }
    const { url, status } = await fetch(`${gateway.origin}${path}`)
    expect({ url, status }).toEqual({ url: `${gateway.origin}/v2/docs`, status: 200 })
  })

  it('is a 405 for other methods', async () => {
    await using gateway = await startGateway()

    const response = await gateway.send('POST', '/', withoutKey)

    expect([response.status, reasonOf(response), response.headers.allow]).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, HEAD',
    ])
  })
})
