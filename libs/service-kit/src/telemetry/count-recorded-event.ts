import { type EventType, eventTypes } from '@fms/contracts'
import { Counter } from './metrics.ts'

const recorded = new Counter({
  name: 'events_recorded_total',
  help: 'Form events that changes of this service recorded, by type',
  labelNames: ['type'],
})
for (const type of eventTypes) recorded.inc({ type }, 0)

/** Counts an event in `events_recorded_total`. */
export const countRecordedEvent = (type: EventType): void => recorded.inc({ type })
