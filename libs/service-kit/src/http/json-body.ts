import type { IncomingMessage } from 'node:http'
import { invalidRequest, type JsonEnvelope, parseJson } from '@fms/aip'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { unsupportedMediaType } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where only the envelope of a large body is parsed: the JSON of its objects and arrays, by name. */
    nestedJson: ReadonlyMap<string, string> | undefined
  }
}

/** Makes the app accept strict JSON alone (`parseJson`). @param parseEnvelope for bodies over `largeBodyBytes`. */
export const acceptJsonBodies = (
  app: FastifyInstance,
  largeBodyBytes: number,
  parseEnvelope?: (body: Buffer, request: FastifyRequest) => Promise<JsonEnvelope>,
): void => {
  app.decorateRequest('nestedJson')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      if (!parseEnvelope || body.length <= largeBodyBytes) return rejectNull(parseJson(body))
      const envelope = await parseEnvelope(body, request)
      request.nestedJson = envelope.nested
      return rejectNull(envelope.body)
    },
  )
  app.addContentTypeParser('*', async ({ headers }: FastifyRequest, payload: IncomingMessage) => {
    const type = headers['content-type']
    // Proxies send no body as an empty one in chunks, without a type.
    if (type !== undefined || !(await isEmpty(payload))) throw unsupportedMediaType(type)
  })
}

/** Reads up to the first byte of a body. */
const isEmpty = (body: IncomingMessage): Promise<boolean> =>
  new Promise((resolve, reject) => {
    body
      .once('data', () => {
        body.pause()
        resolve(false)
      })
      .once('end', () => resolve(true))
      .once('error', reject)
  })

/** Fastify's validators cannot distinguish null from an absent body. */
const rejectNull = (body: unknown): unknown => {
  if (body === null) throw invalidRequest([{ field: '', description: 'must be an object' }])
  return body
}
