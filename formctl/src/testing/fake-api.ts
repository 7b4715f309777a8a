import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, vi } from 'vitest'

/** A request as the API receives it. */
export interface Received {
  method: string | undefined
  url: string | undefined
  key: string | string[] | undefined
  ifMatch: string | undefined
  /** Parsed from JSON; an empty text without a body. */
  body: unknown
}

/** A response of the API. */
export interface FakeResponse {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

type Respond = (request: Received) => FakeResponse

/** Starts an HTTP server in place of the API. */
export const startFakeApi = async (respond: Respond) => {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request
    const body = await text(request)
    const each = {
      method,
      url,
      key: headers['x-api-key'],
      ifMatch: headers['if-match'],
      body: body && JSON.parse(body),
    }
    received.push(each)
    const { status = 200, headers: own, body: responseBody } = respond(each)
    response
      .writeHead(status, { 'content-type': 'application/json', ...own })
      .end(JSON.stringify(responseBody))
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

/**
 * A new API in place of that of `FORMS_API_URL` for each test of a file. No store can be opened.
 *
 * @param respond the `respond` that each test begins with.
 * @returns the API of the present test, whose `respond` may be replaced.
 */
export const withFakeApi = (respond: Respond) => {
  const api = { respond, received: [] as Received[] }
  let server: Awaited<ReturnType<typeof startFakeApi>>
  beforeEach(async () => {
    server = await startFakeApi((request) => api.respond(request))
    Object.assign(api, { respond, received: server.received })
    // A slash at the end is allowed.
    vi.stubEnv('FORMS_API_URL', `${server.baseUrl}/`)
    vi.stubEnv('FORMS_API_KEY', 'fms_mine')
    for (const name of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL'])
      vi.stubEnv(name, 'sqlite:/nonexistent/a.db')
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await server[Symbol.asyncDispose]()
  })
  return api
}
