import { NoQuery } from '@fms/contracts'
import { type AddRoute, pathNotFound } from '@fms/service-kit'
import type { GatewayDeps } from '../deps.ts'
import { consoleNotBuilt } from '../errors.ts'
import { sendDocument } from '../routes/static-document.ts'
import { consolePage } from './console-files.ts'
import { pageHeaders } from './page-headers.ts'

/** The console, a page that is a client of the API, and its files. They need no key. */
export const consoleRoutes: AddRoute<GatewayDeps> = (app, { config, consoleFiles: files }) => {
  const headers = pageHeaders(config.PUBLIC_FORM_IMAGE_ORIGINS)
  // Any query is ignored, such as those that trackers of links add.
  app.get('/console', async (request, reply) => {
    const page = (await files())?.get(consolePage)
    if (!page) throw consoleNotBuilt()
    return sendDocument(request, reply.headers(headers), page)
  })
  // Relative, for proxies that add a prefix.
  app.get('/console/', (_, reply) => reply.redirect('../console', 308))
  app.get('/console/*', { schema: { querystring: NoQuery } }, async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    const file = name === consolePage ? undefined : (await files())?.get(name)
    if (!file) throw pathNotFound(request.originalUrl.split('?', 1)[0]!)
    return sendDocument(request, reply.headers(headers), file)
  })
}
