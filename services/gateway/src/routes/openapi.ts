import { NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { createStaticDocument, type StaticDocument, sendDocument } from './static-document.ts'

/** Clients may use the document for five minutes after an upgrade of the gateway. */
const cacheControl = 'public, max-age=300'

/** The OpenAPI document, for client generators and the reference page. */
export const openApi: FastifyPluginAsyncZod = async (app) => {
  let document: Promise<StaticDocument> | undefined
  app.get('/openapi.json', { schema: { querystring: NoQuery } }, async (request, reply) => {
    document ??= readDocument()
    return sendDocument(request, reply, await document)
  })
}

/** Built at the first request; its modules are imported only then. */
const readDocument = async (): Promise<StaticDocument> => {
  const { buildOpenApi } = await import('../openapi/build-openapi.ts')
  const text = JSON.stringify(buildOpenApi())
  return createStaticDocument('application/json; charset=utf-8', cacheControl, text)
}
