import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

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

/** Starts an HTTP server in place of the API. */
export const startFakeApi = async (respond: (request: Received) => FakeResponse) => {
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

export type FakeApi = Awaited<ReturnType<typeof startFakeApi>>
