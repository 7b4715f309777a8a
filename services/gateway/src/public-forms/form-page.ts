import { pathNotFound } from '@fms/service-kit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ConsoleReader } from '../console/console-files.ts'
import { consoleNotBuilt } from '../errors.ts'
import { sendDocument } from '../routes/static-document.ts'

/** The page of every form among the files of the console. Its script reads the form. */
const formPage = 'form.html'

/** Allows files and requests of this gateway, images and fonts of the configured origins, and nothing else. */
const headersFor = (imageOrigins: readonly string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...imageOrigins].join(' '),
    ["font-src 'self'", ...imageOrigins].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
})

/** Sends the page of a form; with 404, for one that says so. */
export type SendFormPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  status: 200 | 404,
) => Promise<FastifyReply>

/** Registers the files of the page, and returns the function that sends it. */
export const addFormPage = (
  app: FastifyInstance,
  files: ConsoleReader,
  imageOrigins: readonly string[],
): SendFormPage => {
  const headers = headersFor(imageOrigins)
  app.get('/f/assets/*', async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    const file = (await files())?.get(`assets/${name}`)
    if (!file) throw pathNotFound(request.originalUrl.split('?', 1)[0]!)
    return sendDocument(request, reply.headers(headers), file)
  })
  return async (request, reply, status) => {
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
