import { Counter } from '@fms/service-kit'
import type { FastifyInstance } from 'fastify'

const untrusted = new Counter({
  name: 'http_untrusted_forwarded_total',
  help: 'Requests with an X-Forwarded-For from an address that TRUST_PROXY does not name, so that the header is ignored',
})

/** Counts what a proxy sends that `TRUST_PROXY` does not name, so that `formctl doctor` can warn of it. */
export const countUntrustedForwarding = (app: FastifyInstance): void => {
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers, socket } = request
    if (headers['x-forwarded-for'] !== undefined && request.ip === socket.remoteAddress) untrusted.inc()
    done()
  })
}
