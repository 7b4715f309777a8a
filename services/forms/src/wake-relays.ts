import { EventsRecorded } from '@fms/contracts'
import { followConnection } from '@fms/service-kit'
import type { NatsConnection } from 'nats'

/**
 * Returns a function that announces the events of an organization to the relays. It returns immediately and never throws.
 * Without NATS it does nothing: relays look for events every second, too.
 *
 * @param connecting rejects if the service stops before it is connected.
 */
export const createRelayWaker = (connecting: Promise<NatsConnection>): ((organizationId: string) => void) => {
  let publish = (_message: Uint8Array) => {}
  const whenConnected = (nats: NatsConnection) => {
    const connection = followConnection(nats)
    publish = (message) => {
      if (connection.isConnected) nats.publish(EventsRecorded.subject, message)
    }
  }
  connecting.then(whenConnected, () => {})
  return (organizationId) => publish(EventsRecorded.encode({ organizationId }))
}
