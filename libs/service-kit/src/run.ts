import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { ConfigError, readConfig, type ServiceConfig } from './config.ts'
import type { App } from './http/create-app.ts'
import { createLogger } from './telemetry/create-logger.ts'
import { startTracing, stopTracing } from './telemetry/tracing.ts'

/** How long a stop may take before the process gives up waiting, in milliseconds. */
const stopPatienceMs = 9_000

/**
 * Connections that may wait to be taken, as far as the system allows. Of a thousand at once Node's 511 would leave
 * half to try again after one, three and more seconds.
 */
const backlog = 4_096

/**
 * A service's life: reads the environment, builds the app, listens, and on SIGTERM or SIGINT drains and closes it.
 * Whatever the app holds open is closed by its `onClose` hooks.
 */
export const run = async <C extends ServiceConfig>(
  service: string,
  schema: z.ZodType<C>,
  build: (config: C, logger: Logger) => Promise<App>,
): Promise<void> => {
  const config = configOrExit(service, schema)
  const logger = await createLogger(service, config.LOG_LEVEL, config.LOG_FORMAT)
  try {
    await startTracing(service, logger)
    const app = await build(config, logger)
    closeWithGrace({ delay: stopPatienceMs, logger: false }, async ({ err, signal }) => {
      if (err) logger.fatal({ err }, 'a defect: stopping')
      else {
        logger.info({ signal }, 'stopping')
        await app.drain(config.DRAIN_MS)
      }
      await app.close()
      await stopTracing()
    })
    await app.listen({ host: config.HOST, port: config.PORT, backlog })
  } catch (err) {
    logger.fatal({ err }, 'cannot start')
    process.exitCode = 1
    setImmediate(() => process.exit())
  }
}

const configOrExit = <C>(service: string, schema: z.ZodType<C>): C => {
  try {
    return readConfig(schema)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${service} cannot start. ${error.message}\n`)
    process.exit(1)
  }
}
