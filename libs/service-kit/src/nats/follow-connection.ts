import type { NatsConnection } from 'nats'

/** The state of a NATS connection. */
export interface ConnectionState {
  /** False also once the connection is closed or drains. */
  readonly isConnected: boolean
}

/**
 * Follows the state of a connection. While it is disconnected, the client buffers messages without a bound and sends them
 * once it is connected again: check `isConnected` before sending what can be sent later or never.
 *
 * @param nats a connection that is connected, as `connectNats` returns it.
 * @param onChange called each time that the connection is lost or restored.
 */
export const followConnection = (
  nats: NatsConnection,
  onChange: (isConnected: boolean) => unknown = () => {},
): ConnectionState => {
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
    get isConnected() {
      return isConnected && !nats.isDraining() && !nats.isClosed()
    },
  }
}
