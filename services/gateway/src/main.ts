import { run } from '@fms/service-kit'
import { createGateway } from './app.ts'
import { GatewayConfig } from './config.ts'

/** Listening sockets on the port. libuv accepts one connection of each in an iteration of the event loop. */
const sockets = 128

await run('gateway', GatewayConfig, createGateway, sockets)
