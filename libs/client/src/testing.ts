import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ClientOptions, createClient } from './index.ts'

/** The reaction of the server to a request. */
export type Reaction =
  | { status: number; body?: unknown; text?: string; headers?: Record<string, string> }
  /** An event stream: its chunks, then what happens to the connection; by default the response ends. */
  | { stream: string[]; ending?: 'break off' | 'stay open' }
  /** Closes the connection: without a response, or in the middle of one. */
  | 'hang up'
  | 'break off'
  /** Never responds. */
  | 'be silent'

export interface SeenRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: unknown
}

/** Starts a server with one reaction for each request, and creates a client of it that does not wait before retries. */
export const startServer = async (reactions: Reaction[], options: Partial<ClientOptions> = {}) => {
  const requests: SeenRequest[] = []
  const waits: number[] = []
  const seen = Promise.withResolvers<void>()
  const listener: RequestListener = async (request, response) => {
    const { method = '', url = '', headers } = request
    const body = headers['content-type'] ? await json(request) : undefined
    const reaction = reactions[requests.length] ?? { status: 500 }
    requests.push({ method, url, headers, body })
    seen.resolve()
    if (reaction === 'be silent') return
    if (reaction === 'hang up') return void request.socket.destroy()
    if (reaction === 'break off') {
      response.writeHead(200, { 'content-length': 100 }).write('{', () => request.socket.destroy())
      return
    }
    if ('stream' in reaction) return sendStream(response, reaction)
    const text = reaction.text ?? (reaction.body === undefined ? '' : JSON.stringify(reaction.body))
    response.writeHead(reaction.status, reaction.headers).end(text)
  }
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
  const client = createClient(
    { baseUrl, apiKey: 'fms_test', ...options },
    {
      sleep: async (ms) => {
        waits.push(ms)
      },
      random: () => 0.5,
    },
  )
  return {
    baseUrl,
    client,
    requests,
    waits,
    /** Resolves when the server has received its first request. */
    seen: seen.promise,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const sendStream = async (
  response: ServerResponse,
  { stream, ending }: Extract<Reaction, { stream: string[] }>,
): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  for (const chunk of stream) {
    await new Promise((resolve) => response.write(chunk, resolve))
    // Chunks that are written in one iteration of the event loop may arrive as one.
    await nextTurn()
  }
  if (ending === undefined) response.end()
  if (ending === 'break off') response.destroy()
}

/** An error response (AIP-193). */
export const failure = (
  status: number,
  reason: string,
  {
    metadata = {},
    details = [],
    headers = {},
  }: { metadata?: object; details?: object[]; headers?: Record<string, string> } = {},
): Reaction => ({
  status,
  headers,
  body: {
    error: {
      code: status,
      status: 'UNAVAILABLE',
      message: `Because of ${reason}.`,
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'forms', metadata },
        ...details,
      ],
    },
  },
})

/** A response with some fields of a resource. */
export const answered = (fields: object = {}, etag?: string): Reaction => ({
  status: 200,
  body: fields,
  headers: etag === undefined ? {} : { etag },
})
