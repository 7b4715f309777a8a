import { OpenApiQuery } from '@fms/contracts'
import type { AddRoute } from '@fms/service-kit'
import { createStaticDocument, type StaticDocument, sendDocument } from './static-document.ts'

/** Clients may use the document for five minutes after an upgrade of the gateway. */
const cacheControl = 'public, max-age=300'

/** The OpenAPI document, for client generators, the reference page, and programs that read it. */
export const openApi: AddRoute = (app) => {
  const documents = new Map<string, Promise<StaticDocument>>()
  app.get('/openapi.json', { schema: { querystring: OpenApiQuery } }, async (request, reply) => {
    const { view } = request.query
    const document = documents.get(view) ?? readDocument(view === 'essential')
    documents.set(view, document)
    return sendDocument(request, reply, await document)
  })
}

/** Built at the first request; its modules are imported only then. */
const readDocument = async (isEssential: boolean): Promise<StaticDocument> => {
  const { buildOpenApi } = await import('../openapi/build-openapi.ts')
  const { essentialView } = await import('../openapi/essential-view.ts')
  const document = isEssential ? essentialView(buildOpenApi()) : buildOpenApi()
  return createStaticDocument('application/json; charset=utf-8', cacheControl, JSON.stringify(document))
}
