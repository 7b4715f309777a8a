import type { AddRoute } from '@fms/service-kit'
import type { GatewayDeps } from '../deps.ts'

/** Redirects `GET /` to the console if it is built, else to the reference page. Relative, for proxies that add a prefix. */
export const home: AddRoute<GatewayDeps> = (app, { consoleFiles }) => {
  app.get('/', async (_, reply) => reply.redirect((await consoleFiles()) ? 'v2/console' : 'v2/docs', 302))
}
