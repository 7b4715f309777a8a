import { EventsRecorded } from '@fms/contracts'
import { followConnection, throttle } from '@fms/service-kit'
import type { NatsConnection } from 'nats'

/** The shortest time between two announcements, in milliseconds. Relays gather events for as long. */
const pauseMs = 75

/**
 * Returns a function that announces recorded events, at most every 75 ms, and never throws: relays look by themselves,
 * too.
 */
export const createRelayWaker = (connecting: Promise<NatsConnection>): (() => void) => {
  let announce = () => {}
  const whenConnected = (nats: NatsConnection) => {
    const connection = followConnection(nats)
    announce = () => {
      if (connection.isConnected) nats.publish(EventsRecorded.subject, EventsRecorded.encode({}))
    }
  }
  connecting.then(whenConnected, () => {})
  return throttle(() => announce(), pauseMs)
}
