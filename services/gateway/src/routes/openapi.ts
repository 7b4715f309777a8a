import { OpenApiQuery } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import { createStaticDocument, once, type StaticDocument, sendDocument } from './static-document.ts'

/** Clients may use the document for five minutes after an upgrade of the gateway. */
const cacheControl = 'public, max-age=300'

/** The OpenAPI document, for client generators, the reference page, and programs that read it. */
export const openApi: AddRoute = (app) => {
  const documents = { full: once(() => readDocument(false)), essential: once(() => readDocument(true)) }
  app.get('/openapi.json', { schema: { querystring: OpenApiQuery } }, async (request, reply) =>
    sendDocument(request, reply, await documents[request.query.view]()),
  )
}

/** Imports its modules only now. */
const readDocument = async (isEssential: boolean): Promise<StaticDocument> => {
  const { buildOpenApi } = await import('../openapi/build-openapi.ts')
  const { essentialView } = await import('../openapi/essential-view.ts')
  const document = isEssential ? essentialView(buildOpenApi()) : buildOpenApi()
  return createStaticDocument('application/json; charset=utf-8', cacheControl, JSON.stringify(document))
}
