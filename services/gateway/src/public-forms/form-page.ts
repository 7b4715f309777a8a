import { type App, pathNotFound } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../console/page-headers.ts'
import type { GatewayDeps } from '../deps.ts'
import { consoleNotBuilt } from '../errors.ts'
import { sendDocument } from '../routes/static-document.ts'

/** The page of every form among the files of the console. Its script reads the form. */
const formPage = 'form.html'

/** Registers the files of the page, and returns the function that sends it: with 404, for a form that is not there. */
export const addFormPage = (app: App, { config, consoleFiles: files }: GatewayDeps) => {
  const headers = pageHeaders(config.PUBLIC_FORM_IMAGE_ORIGINS)
  app.get('/f/assets/*', async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    const file = (await files())?.get(`assets/${name}`)
    if (!file) throw pathNotFound(request.originalUrl.split('?', 1)[0]!)
    return sendDocument(request, reply.headers(headers), file)
  })
  return async (request: FastifyRequest, reply: FastifyReply, status: 200 | 404): Promise<FastifyReply> => {
    const page = (await files())?.get(formPage)
    if (!page) throw consoleNotBuilt()
    reply.headers(headers)
    if (status === 200) return sendDocument(request, reply, { ...page, cacheControl: 'public, no-cache' })
    const { contentType, identity } = page
    return reply
      .code(status)
      .headers({ 'cache-control': 'no-store', 'content-type': contentType })
      .send(identity)
  }
}
