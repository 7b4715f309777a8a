import type { AddRoute } from '@fms/service-kit'
import { isConsoleBuilt } from '../console/console-files.ts'

/** Redirects `GET /` to the console if it is built, else to the reference page. Relative, for proxies that add a prefix. */
export const home: AddRoute<{ consoleFolder: string }> = (app, { consoleFolder }) => {
  app.get('/', async (_, reply) =>
    reply.redirect((await isConsoleBuilt(consoleFolder)) ? 'v2/console' : 'v2/docs', 302),
  )
}
