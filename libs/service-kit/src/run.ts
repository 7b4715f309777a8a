import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { ConfigError, configErrorExitCode, readConfig, type ServiceConfig } from './config.ts'
import type { App } from './http/create-app.ts'
import { listen } from './http/listen.ts'
import { serveProbes } from './http/probes.ts'
import { createLogger } from './telemetry/create-logger.ts'
import { startTracing, stopTracing } from './telemetry/tracing.ts'

/** How long a service may take to close after its drain, in milliseconds. Then the process exits with 1. */
export const closeTimeoutMs = 9_000

/**
 * Runs a service: reads the environment, builds the app and listens. On SIGTERM or SIGINT it drains and closes the app,
 * whose `onClose` hooks close stores. A failed start exits with 1, an invalid environment with {@link
 * configErrorExitCode}.
 *
 * @param sockets see {@link listen}.
 */
export const run = async <C extends ServiceConfig>(
  service: string,
  schema: z.ZodType<C>,
  build: (config: C, logger: Logger) => Promise<App>,
  sockets = 1,
): Promise<void> => {
  const config = configOrExit(service, schema)
  const logger = await createLogger(service, config.LOG_LEVEL, config.LOG_FORMAT)
  try {
    await startTracing(service, logger)
    const app = await build(config, logger)
    closeWithGrace({ delay: config.DRAIN_MS + closeTimeoutMs, logger: false }, async ({ err, signal }) => {
      if (err) logger.fatal({ err }, 'uncaught error: stopping')
      else {
        logger.info({ signal }, 'stopping')
        await app.drain(config.DRAIN_MS)
      }
      await app.close()
      await stopTracing()
    })
    const { HOST: host, PORT: port, PROBE_PORT: probePort } = config
    await listen(app, { host, port, isShared: probePort !== undefined, sockets })
    if (probePort !== undefined) await serveProbes(app, probePort)
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
    process.exit(configErrorExitCode)
  }
}
