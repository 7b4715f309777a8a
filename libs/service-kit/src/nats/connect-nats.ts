import { setTimeout as delay } from 'node:timers/promises'
import { type ConnectionOptions, connect, Events, type NatsConnection } from 'nats'
import { Gauge } from '../telemetry/metrics.ts'

/** Between two tries to reach the server, in milliseconds. */
const retryMs = 250

/** How long the last messages may take to leave, in milliseconds. */
const drainMs = 2_000

const isConnected = new Gauge({
  name: 'nats_connected',
  help: '1 while connected to NATS',
  labelNames: ['client'],
})

/** Where and as whom to connect, as a `NATS_URL` has it. */
export const natsConnectionOptions = (
  url: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'inboxPrefix'> => {
  const servers = url.split(',').map((each) => new URL(each))
  const [user, pass] = [servers[0]!.username, servers[0]!.password].map(decodeURIComponent)
  return {
    servers: servers.map(({ host }) => host),
    ...(user && { user, pass, inboxPrefix: `_INBOX.${user}` }),
  }
}

/**
 * Connects to NATS and stays connected: a server that is away is tried again for ever.
 *
 * @param url `nats://user:password@host:port`, several separated by commas. The user's inboxes are
 *   `_INBOX.{user}.>`, so that permissions can keep one service from reading another's replies.
 * @param name what the server shows for the connection.
 * @param signal gives up waiting for the first connection: rejects once it is aborted.
 */
export const connectNats = async (
  url: string,
  name: string,
  signal?: AbortSignal,
): Promise<NatsConnection> => {
  isConnected.set({ client: name }, 0)
  for (;;) {
    try {
      const nats = await connect({
        ...natsConnectionOptions(url),
        name,
        // Without a stack for each request, which only a failure would show.
        noAsyncTraces: true,
        maxReconnectAttempts: -1,
        // A password may be put right on the server's side, too.
        ignoreAuthErrorAbort: true,
        reconnectTimeWait: retryMs,
        reconnectJitter: retryMs,
        pingInterval: 5_000,
        maxPingOut: 2,
      })
      void tellConnected(nats, name)
      return nats
    } catch {
      await delay(retryMs, undefined, { signal })
    }
  }
}

const tellConnected = async (nats: NatsConnection, client: string) => {
  isConnected.set({ client }, 1)
  for await (const { type } of nats.status()) {
    if (type === Events.Disconnect) isConnected.set({ client }, 0)
    if (type === Events.Reconnect) isConnected.set({ client }, 1)
  }
}

/** Sends what is still to be sent, and closes. While NATS is away, draining neither ends soon nor closes. */
export const closeNats = async (nats: NatsConnection): Promise<void> => {
  await Promise.race([nats.drain(), delay(drainMs, undefined, { ref: false })]).catch(() => {})
  await nats.close()
}
