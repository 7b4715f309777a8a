import { type FormEvent, parseSequence } from '@fms/contracts'
import type { FormsStore } from '../../forms-store.ts'

/** Moves all recorded events to their logs. */
export const sequenceAll = async (store: FormsStore): Promise<void> => {
  while ((await store.events.sequence(100)) > 0);
}

/** All events of an organization, in order, after all recorded ones are in the log. */
export const logOf = async (store: FormsStore, organizationId: string): Promise<FormEvent[]> => {
  await sequenceAll(store)
  return store.events.read({ organizationId, limit: 100_000 })
}

/** The part of an organization's events in its usage. */
export const logBytesOf = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await logOf(store, organizationId)).reduce(
    (sum, event) => sum + Buffer.byteLength(JSON.stringify(event)),
    0,
  )

export const sequencesOf = (events: readonly FormEvent[]): number[] =>
  events.map(({ sequence }) => parseSequence(sequence))
