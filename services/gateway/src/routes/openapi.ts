import { NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'

/** The document of the API, for generators of clients and for the reference page. */
export const openApi: FastifyPluginAsyncZod = async (app) => {
  let document: Promise<string> | undefined
  app.get('/openapi.json', { schema: { querystring: NoQuery } }, async (_, reply) => {
    document ??= readDocument()
    return reply.header('content-type', 'application/json; charset=utf-8').send(await document)
  })
}

/** What it is made of is needed for nothing else: it is left to the first reader. */
const readDocument = async (): Promise<string> => {
  const { buildOpenApi } = await import('../openapi/build-openapi.ts')
  return JSON.stringify(buildOpenApi())
}
