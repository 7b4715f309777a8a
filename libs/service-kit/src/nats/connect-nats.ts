import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { connect, type NatsConnection } from 'nats'
import { natsConnectionOptions } from '../config-urls.ts'
import { Gauge } from '../telemetry/metrics.ts'

/** The pause between two attempts to connect, in milliseconds. */
const retryMs = 250

/** How long closing waits until the last messages are sent, in milliseconds. */
const drainMs = 2_000

/** How long the first connection may take before a failure is logged, in milliseconds: NATS may start at the same time. */
const quietMs = 5_000

/** Interval between two log lines about failures, in milliseconds. */
const logMs = 60_000

const connected = new Gauge({
  name: 'nats_connected',
  help: '1 while connected to NATS',
  labelNames: ['client'],
})

const noConnection =
  'cannot connect to NATS (NATS_URL): retrying. Check that it runs, and host, port, user and password in the URL'

/**
 * Connects to NATS, and reconnects whenever the connection is lost, without a limit of attempts.
 *
 * @param url `nats://user:password@host:port`, or a comma-separated list. Inboxes are `_INBOX.{user}.>`, so that
 *   permissions can keep one service from another's replies.
 * @param options.logger gets an error after 5 s without a connection, then once a minute.
 * @param options.signal aborts the wait for the first connection with an AbortError.
 */
export const connectNats = async (
  url: string,
  name: string,
  { logger, signal }: { logger?: Pick<FastifyBaseLogger, 'error'>; signal?: AbortSignal } = {},
): Promise<NatsConnection> => {
  connected.set({ client: name }, 0)
  let nextLogMs = performance.now() + quietMs
  for (;;) {
    try {
      const nats = await connect({
        ...natsConnectionOptions(url),
        name,
        // Capturing a stack for each request is expensive.
        noAsyncTraces: true,
        maxReconnectAttempts: -1,
        // The server's configuration may be corrected, so wrong credentials are retried as well.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: retryMs,
        reconnectJitter: retryMs,
        pingInterval: 5_000,
        maxPingOut: 2,
      })
      if (signal?.aborted) await nats.close()
      signal?.throwIfAborted()
      connected.set({ client: name }, 1)
      followConnection(nats, (isConnected) => connected.set({ client: name }, isConnected ? 1 : 0))
      return nats
    } catch (err) {
      signal?.throwIfAborted()
      if (logger && performance.now() >= nextLogMs) {
        logger.error({ err }, noConnection)
        nextLogMs += logMs
      }
      await delay(retryMs, undefined, { signal })
    }
  }
}

/** Calls `onChange` when the connection is lost or restored. While it is lost, the client buffers messages without a bound. */
export const followConnection = (
  nats: NatsConnection,
  onChange: (isConnected: boolean) => unknown = () => {},
) => {
  let isConnected = true
  const follow = async () => {
    for await (const { type } of nats.status()) {
      if (type !== 'disconnect' && type !== 'reconnect') continue
      isConnected = type === 'reconnect'
      onChange(isConnected)
    }
  }
  void follow()
  return {
    /** False also once the connection is closed or drains. */
    get isConnected(): boolean {
      return isConnected && !nats.isDraining() && !nats.isClosed()
    },
  }
}

/** Sends pending messages, then closes the connection. Gives up after 2 s, since a disconnected client cannot drain. */
export const closeNats = async (nats: NatsConnection): Promise<void> => {
  await Promise.race([nats.drain(), delay(drainMs, undefined, { ref: false })]).catch(() => {})
  await nats.close()
}
