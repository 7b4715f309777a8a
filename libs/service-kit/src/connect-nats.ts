import { setTimeout as delay } from 'node:timers/promises'
import { connect, type NatsConnection } from 'nats'

/** Between two tries to reach the server, in milliseconds. */
const retryMs = 250

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
  const servers = url.split(',').map((each) => new URL(each))
  const [user, pass] = [servers[0]!.username, servers[0]!.password].map(decodeURIComponent)
  for (;;) {
    try {
      return await connect({
        name,
        servers: servers.map(({ host }) => host),
        ...(user && { user, pass, inboxPrefix: `_INBOX.${user}` }),
        maxReconnectAttempts: -1,
        reconnectTimeWait: retryMs,
        reconnectJitter: retryMs,
        pingInterval: 5_000,
        maxPingOut: 2,
      })
    } catch {
      await delay(retryMs, undefined, { signal })
    }
  }
}
