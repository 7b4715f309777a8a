import type { FormEvent } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'
import { durationBuckets, Histogram } from '@fms/service-kit'
import { sharedGauges } from '../shared-gauges.ts'

const relayDuration = new Histogram({
  name: 'events_relay_seconds',
  help: 'Time from the change to the acknowledgement of its event by the stream EVENTS',
  buckets: [...durationBuckets, 30, 60, 300],
})

/** Records how long an event that has just been stored in the stream took. Clocks of two machines may differ. */
export const observeRelay = ({ time }: FormEvent): void =>
  relayDuration.observe(Math.max(0, Date.now() - Date.parse(time)) / 1000)

/** How long the three gauges share the result of one request to the store, in milliseconds. */
const sharedMs = 500

const backlogs = sharedGauges(sharedMs, (log: EventLog) => log.backlog())

backlogs.gauge('events_pending', 'Recorded events that are in no log yet', ({ pending }) => pending)
backlogs.gauge(
  'events_unstreamed',
  'Events of logs that are not in the stream yet',
  ({ unstreamed }) => unstreamed,
)
backlogs.gauge(
  'events_oldest_unstreamed_seconds',
  'Age of the oldest event that is not in the stream yet, 0 without one',
  ({ oldestTime }) => (oldestTime ? Math.max(0, Date.now() - oldestTime.getTime()) / 1000 : 0),
)

/** Adds the backlog of the relay to `/metrics`, read with each scrape. @returns a function that removes it. */
export const watchEventBacklog = backlogs.watch
