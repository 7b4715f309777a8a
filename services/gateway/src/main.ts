import { run } from '@fms/service-kit'
import { createGateway } from './app.ts'
import { GatewayConfig } from './config.ts'

/** The most connections that are accepted in a turn of the event loop. */
const listeners = 32

await run('gateway', GatewayConfig, createGateway, listeners)
