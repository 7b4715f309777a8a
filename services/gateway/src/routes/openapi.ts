import { NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createStaticDocument, type StaticDocument, sendDocument } from './static-document.ts'

/** An upgrade shows after this. */
const maxAgeSeconds = 300

/** The document of the API, for generators of clients and for the reference page. */
export const openApi: FastifyPluginAsyncZod = async (app) => {
  let document: Promise<StaticDocument> | undefined
  app.get('/openapi.json', { schema: { querystring: NoQuery } }, async (request, reply) => {
    document ??= readDocument()
    return sendDocument(request, reply, await document)
  })
}

/** What it is made of is needed for nothing else: it is left to the first reader. */
const readDocument = async (): Promise<StaticDocument> => {
  const { buildOpenApi } = await import('../openapi/build-openapi.ts')
  const text = JSON.stringify(buildOpenApi())
  return createStaticDocument('application/json; charset=utf-8', maxAgeSeconds, text)
}
