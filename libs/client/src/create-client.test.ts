import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ClientOptions, createClient, type Fetch, FormsConnectionError } from './index.ts'
import { answered, failure, startServer } from './testing.ts'

describe('createClient', () => {
  it.each<[string, object, string]>([
    ['no baseUrl', { apiKey: 'fms_test' }, 'baseUrl is missing. Set it to'],
    ['no scheme', { baseUrl: 'forms.example.com/v2', apiKey: 'fms_test' }, 'baseUrl is not the URL'],
    ['another scheme', { baseUrl: 'ftp://example.com/v2', apiKey: 'fms_test' }, 'baseUrl is not the URL'],
    ['a query', { baseUrl: 'http://127.0.0.1/v2?a', apiKey: 'fms_test' }, 'baseUrl is not the URL'],
    ['no apiKey', { baseUrl: 'http://127.0.0.1/v2' }, 'apiKey is missing. Set it to'],
    [
      'an apiKey with a line break',
      { baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_\ntest' },
      'apiKey is not',
    ],
    ['another token', { baseUrl: 'http://127.0.0.1/v2', apiKey: 'Bearer x' }, 'apiKey is not an API key'],
  ])('rejects %s, and says what to set', (_, options, message) => {
    expect(() => createClient(options as ClientOptions)).toThrow(TypeError)
    expect(() => createClient(options as ClientOptions)).toThrow(message)
  })

  it('accepts a baseUrl with a trailing slash, and a custom fetch', async () => {
    const fetch = vi.fn(async () => Response.json({ organizations: [] }))
    const client = createClient({ baseUrl: 'http://127.0.0.1/v2/', apiKey: 'fms_test', fetch })

    expect(await client.organizations.all()).toEqual([])

    const init = expect.objectContaining({ method: 'GET', headers: { 'x-api-key': 'fms_test' } })
    expect(fetch.mock.calls).toEqual([['http://127.0.0.1/v2/organizations?all=true', init]])
  })

  it('sends nothing, and retries nothing, that no request can have', async () => {
    const fetch = vi.fn()
    const client = createClient({ baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_test', fetch })

    await expect(client.forms.create('acme', { name: 1n as never })).rejects.toThrow(TypeError)
    await expect(client.forms.update('acme', 'f', {}, { ifMatch: '“1”' })).rejects.toThrow(TypeError)
    await expect(client.forms.list('acme', { filter: '\ud800' }).pages().next()).rejects.toThrow(URIError)

    expect(fetch).not.toHaveBeenCalled()
  })
})

describe('in a page of another origin', () => {
  const blocked = () => Promise.reject(new TypeError('Failed to fetch'))
  const clientOf = (fetch: Fetch, baseUrl = 'http://127.0.0.1/v2') =>
    createClient({ baseUrl, apiKey: 'fms_test', fetch }, { sleep: async () => {}, random: () => 0 })

  beforeEach(() => {
    vi.stubGlobal('location', { href: 'https://example.com/page', origin: 'https://example.com' })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('a first call without a response is not repeated, and its error names CORS_ORIGINS', async () => {
    const fetch = vi.fn<Fetch>(blocked)

    const error = await clientOf(fetch)
      .organizations.all()
      .catch((error) => error)

    expect(error).toBeInstanceOf(FormsConnectionError)
    expect(error.message).toContain('may have to add https://example.com to CORS_ORIGINS')
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('a call is repeated if there has been a response before', async () => {
    const fetch = vi
      .fn<Fetch>(async () => Response.json({ organizations: [] }))
      .mockImplementationOnce(async () => Response.json({ organizations: [] }))
      .mockImplementationOnce(blocked)
    const client = clientOf(fetch)

    await client.organizations.all()
    await client.organizations.all()

    expect(fetch).toHaveBeenCalledTimes(3)
  })

  it('a call to the origin of the page is repeated', async () => {
    const fetch = vi
      .fn<Fetch>(async () => Response.json({ organizations: [] }))
      .mockImplementationOnce(blocked)

    await clientOf(fetch, '/v2').organizations.all()

    expect(fetch).toHaveBeenCalledTimes(2)
  })
})

describe('references', () => {
  it('are encoded in the path', async () => {
    await using server = await startServer([answered()])

    await server.client.revisions.get('a/b', 'c?d', 'e f#')

    expect(server.requests[0]!.url).toBe('/v2/organizations/a%2Fb/forms/c%3Fd/revisions/e%20f%23')
  })

  it('may be paths of resources', async () => {
    await using server = await startServer([answered()])
    const path = 'organizations/o/forms/f/revisions/r'

    await server.client.revisions.get('organizations/o', 'organizations/o/forms/f', path)

    expect(server.requests[0]!.url).toBe(`/v2/${path}`)
  })

  it.each(['', '.', '..', 'organizations/..'])(
    'are refused when they are %j, another path to a URL',
    async (ref) => {
      await using server = await startServer([])

      await expect(server.client.forms.delete('acme', ref)).rejects.toThrow(TypeError)

      expect(server.requests).toEqual([])
    },
  )
})

describe('a signal', () => {
  const reason = new Error('enough')

  it.each(['client', 'call'])("of the %s aborts a request with the signal's reason", async (of) => {
    const { signal, ...controller } = abortable()
    await using server = await startServer(['be silent'], of === 'client' ? { signal } : {})

    const call = server.client.organizations.all(of === 'call' ? { signal } : {})
    await Promise.all([expect(call).rejects.toBe(reason), server.seen.then(controller.abort)])

    expect(server.waits).toEqual([])
  })

  it.each(['client', 'call'])('of the %s aborts the delay before a retry', async (of) => {
    const { signal, ...controller } = abortable()
    const fetch = vi.fn(async () => new Response(null, { status: 503, headers: { 'retry-after': '60' } }))
    const options = { baseUrl: 'http://127.0.0.1/v2', apiKey: 'fms_test', fetch }
    const client = createClient(of === 'client' ? { ...options, signal } : options)

    const call = client.forms.get('acme', 'form', of === 'call' ? { signal } : {})
    const refused = expect(call).rejects.toBe(reason)
    await nextTurn()
    controller.abort()
    await refused

    expect(fetch).toHaveBeenCalledOnce()
  })

  it.each(['client', 'call'])('of the %s prevents requests once it has aborted', async (of) => {
    const { signal, ...controller } = abortable()
    controller.abort()
    await using server = await startServer([], of === 'client' ? { signal } : {})
    const options = of === 'call' ? { signal } : {}

    await expect(server.client.forms.create('acme', {}, options)).rejects.toBe(reason)
    await expect(server.client.forms.list('acme', options).pages().next()).rejects.toBe(reason)

    expect(server.requests).toEqual([])
  })

  it('ends an edit that keeps starting over', async () => {
    const { signal, ...controller } = abortable()
    const moved = failure(412, 'FORM_MOVED')
    await using server = await startServer([answered(), moved, answered(), moved])
    let changes = 0

    const edit = server.client.forms.edit(
      'acme',
      'form',
      () => {
        if (++changes === 2) controller.abort()
        return {}
      },
      { signal },
    )

    await expect(edit).rejects.toBe(reason)
    expect(server.requests).toHaveLength(3)
  })

  const abortable = () => {
    const controller = new AbortController()
    return { signal: controller.signal, abort: () => controller.abort(reason) }
  }
})
