import { connect, type NatsConnection } from 'nats'

/**
 * Connects to NATS and stays connected: a server that is away is tried again for ever.
 *
 * @param url `nats://user:password@host:port`, several separated by commas. The user's inboxes are
 *   `_INBOX.{user}.>`, so that permissions can keep one service from reading another's replies.
 * @param name what the server shows for the connection.
 */
export const connectNats = (url: string, name: string): Promise<NatsConnection> => {
  const servers = url.split(',').map((each) => new URL(each))
  const { username, password } = servers[0]!
  return connect({
    name,
    servers: servers.map(({ host }) => host),
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    ...(username && { inboxPrefix: `_INBOX.${decodeURIComponent(username)}` }),
    waitOnFirstConnect: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
  })
}
