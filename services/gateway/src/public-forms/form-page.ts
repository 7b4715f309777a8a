import { type App, pathNotFound } from '@fms/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../console/page-headers.ts'
import type { GatewayDeps } from '../deps.ts'
import { consoleNotBuilt } from '../errors.ts'
import { sendDocument } from '../routes/static-document.ts'

/** The page of every form among the files of the console. Its script reads the form. */
const formPage = 'form.html'

/** Registers the files of the page. @returns a function that sends it, and one that sends it instead of an error, if it can. */
export const addFormPage = (app: App, { config, consoleFiles: files }: GatewayDeps) => {
  const headers = pageHeaders(config.PUBLIC_FORM_IMAGE_ORIGINS)
  app.get('/f/assets/*', async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    const file = (await files())?.get(`assets/${name}`)
    if (!file) throw pathNotFound(request.originalUrl.split('?', 1)[0]!)
    return sendDocument(request, reply.headers(headers), file)
  })
  return {
    sendPage: async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const page = (await files())?.get(formPage)
      if (!page) throw consoleNotBuilt()
      return sendDocument(request, reply.headers(headers), { ...page, cacheControl: 'public, no-cache' })
    },
    /** Its script reads the form, and shows the message of the error. */
    toPage: async (reply: FastifyReply, error: unknown): Promise<unknown> => {
      const page = (await files())?.get(formPage)
      if (!page) return error
      reply.removeHeader('content-length').headers(headers).type(page.contentType)
      return page.identity
    },
  }
}
