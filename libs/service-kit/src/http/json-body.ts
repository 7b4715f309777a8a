import type { IncomingMessage } from 'node:http'
import { invalidRequest, parseJson, parseJsonEnvelope } from '@fms/aip'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { unsupportedMediaType } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The JSON texts of the envelope's objects and arrays by name, where only the envelope was parsed. */
    nestedJson: ReadonlyMap<string, string> | undefined
  }
  interface FastifyContextConfig {
    /** Parses only the envelope of a large body: `{}` and `[]` replace the objects and arrays in it. */
    parsesEnvelopeOnly?: boolean
  }
}

/**
 * Makes the app accept JSON bodies, by strict rules (`parseJson` of `@fms/aip`), and no others.
 *
 * @param largeBodyBytes bodies over this are large, for routes with `parsesEnvelopeOnly`.
 */
export const acceptJsonBodies = (app: FastifyInstance, largeBodyBytes: number): void => {
  app.decorateRequest('nestedJson')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const isLarge = request.routeOptions.config.parsesEnvelopeOnly && body.length > largeBodyBytes
      return rejectNull(isLarge ? parseEnvelope(body, request) : parseJson(body))
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

const parseEnvelope = (bytes: Buffer, request: FastifyRequest): unknown => {
  const { body, nested } = parseJsonEnvelope(bytes)
  request.nestedJson = nested
  return body
}

/** Fastify's validators cannot distinguish null from an absent body. */
const rejectNull = (body: unknown): unknown => {
  if (body === null) throw invalidRequest([{ field: '', description: 'must be an object' }])
  return body
}
