import { NoQuery } from '@fms/contracts'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { buildOpenApi } from '../openapi/build-openapi.ts'

/** The document of the API, for generators of clients and for the reference page. */
export const openApi: FastifyPluginAsyncZod = async (app) => {
  const document = JSON.stringify(buildOpenApi())
  app.get('/openapi.json', { schema: { querystring: NoQuery } }, async (_, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(document),
  )
}
