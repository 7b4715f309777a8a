import { run } from '@fms/service-kit'
import { createGateway } from './app.ts'
import { GatewayConfig } from './config.ts'

await run('gateway', GatewayConfig, createGateway)
