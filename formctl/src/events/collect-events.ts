import type { EventLog } from '@fms/forms-store'

/** Forms whose events one call moves. */
const batchSize = 100

/** Moves all pending events to their logs. */
export const collectEvents = async (events: EventLog): Promise<void> => {
  while ((await events.collect(batchSize)) > 0);
}
