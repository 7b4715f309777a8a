import { once } from 'node:events'
import type { Server } from 'node:http'
import { ApiError, apiError } from '@fms/aip'
import type { FastifyInstance } from 'fastify'
import { sendError } from './error-handler.ts'

/** By the server of the app, which may close before its last response. */
const probeServers = new WeakMap<object, Server>()

/** Adds `GET /healthz`, always 200, and `GET /readyz`, 503 while the service drains or `ready` rejects. */
export const addProbes = (
  app: FastifyInstance,
  isDraining: () => boolean,
  ready?: () => Promise<void>,
): void => {
  let wasReady: boolean | undefined

  /** Logs changes only, since probes come every few seconds. */
  const logChange = (reason: Error | undefined) => {
    const isReady = reason === undefined
    if (isReady === wasReady) return
    // Before the service is ready for the first time, there is nothing to warn of.
    const level = wasReady ? 'warn' : 'info'
    app.log[level]({ reason: reason && reasonOf(reason) }, isReady ? 'ready' : 'not ready')
    wasReady = isReady
  }

  app.get('/healthz', { config: { isUnlogged: true } }, async () => ({ status: 'ok' }))
  app.get('/readyz', { config: { isUnlogged: true } }, async (request, reply) => {
    const reason = isDraining() ? new Error('stopping') : await errorOf(ready)
    logChange(reason)
    if (!reason) return { status: 'ready' }
    sendError(apiError('NOT_READY', {}), request, reply)
    return reply
  })
  app.addHook('onClose', async () => {
    const server = probeServers.get(app.server)
    server?.close()
    server?.closeAllConnections()
  })
}

const probePaths = ['/healthz', '/readyz', '/metrics']

/** Serves probes and metrics also on a port of 127.0.0.1: on a shared port, the system chooses the process that responds. */
export const serveProbes = async (app: FastifyInstance, port: number): Promise<void> => {
  // Here, since an import of node:http into an ES module also loads fetch, a tenth of the start of a service.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    if (probePaths.includes(request.url!.split('?', 1)[0]!)) return app.routing(request, response)
    response.writeHead(404).end()
  })
  probeServers.set(app.server, server)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

/** The advice to operators, if there is one: the message is for callers. */
const reasonOf = (error: Error): string =>
  (error instanceof ApiError ? error.parts.advice : undefined) ?? error.message

const errorOf = (ready: (() => Promise<void>) | undefined): Promise<Error | undefined> =>
  Promise.try(() => ready?.()).then(
    () => undefined,
    (error: Error) => error,
  )
