import type { IncomingMessage } from 'node:http'
import { invalidRequest, parseJson, type ShallowJson } from '@fms/aip'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { unsupportedMediaType } from './errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where only scalar members of a large body are parsed: the JSON of its objects and arrays, by name. */
    nestedJson: ReadonlyMap<string, string> | undefined
  }
}

/** Parses only scalar members of a large body, off the event loop; undefined for others, which are parsed as a whole. */
export type ParseShallowly = (body: Buffer, request: FastifyRequest) => Promise<ShallowJson> | undefined

/** Makes the app accept strict JSON alone (`parseJson`). */
export const acceptJsonBodies = (app: FastifyInstance, parseShallowly?: ParseShallowly): void => {
  app.decorateRequest('nestedJson')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      const shallow = await parseShallowly?.(body, request)
      request.nestedJson = shallow?.nested
      return rejectNull(shallow ? shallow.body : parseJson(body))
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
