/** Program B1: `@fastify/http-proxy` as its README shows it, in front of B0. */
import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'

const app = Fastify({ logger: false })
await app.register(httpProxy, { upstream: process.argv[2]! })
process.send!({ origin: await app.listen({ host: '127.0.0.1', port: 0 }) })
