import { EventsRecorded, relayQueue } from '@fms/contracts'
import type { NatsConnection } from 'nats'

/** The pause after NATS has denied the subscription, in milliseconds. */
const retryMs = 5_000

export interface AnnouncementsDeps {
  nats: NatsConnection
  onRecorded: () => void
  onError: (error: Error) => void
}

/**
 * Subscribes to announcements of recorded events. NATS denies it as long as its configuration is that of a release without
 * events, and ends the subscription: it is repeated, since a new configuration needs no new connection.
 *
 * @returns a function that ends the subscription.
 */
export const followAnnouncements = ({ nats, onRecorded, onError }: AnnouncementsDeps): (() => void) => {
  let timer: NodeJS.Timeout | undefined
  const subscribe = () =>
    nats.subscribe(EventsRecorded.subject, {
      queue: relayQueue,
      callback(error) {
        if (!error) return onRecorded()
        onError(error)
        timer = setTimeout(subscribeAgain, retryMs)
      },
    })
  let subscription = subscribe()
  const subscribeAgain = () => {
    if (!nats.isClosed()) subscription = subscribe()
  }

  return () => {
    clearTimeout(timer)
    subscription.unsubscribe()
  }
}
