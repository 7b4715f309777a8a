import { setTimeout as delay } from 'node:timers/promises'
import type { EventLog } from '@fms/forms-store'

/** Forms whose events one call moves. */
const batchSize = 100

/** Pause while events cannot be moved yet, in milliseconds. */
const retryMs = 250

/**
 * How long events may remain that cannot be moved yet, in milliseconds: those of a form that was created anew wait up to
 * 10 s until it is known which process has deleted the former one.
 */
const maxWaitMs = 20_000

/** Moves the pending events that can be moved now. On MongoDB, this also completes deletes that were killed. */
export const collectReadyEvents = async (events: EventLog): Promise<void> => {
  while ((await events.collect(batchSize)) > 0);
}

/**
 * Moves all pending events to their logs.
 *
 * @throws {Error} if some remain after `waitMs`, in milliseconds.
 */
export const collectEvents = async (events: EventLog, waitMs = maxWaitMs): Promise<void> => {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    await collectReadyEvents(events)
    const { pending } = await events.backlog()
    if (pending === 0) return
    if (performance.now() >= deadlineMs) throw eventsRemain(pending)
    await delay(retryMs)
  }
}

const eventsRemain = (pending: number): Error =>
  new Error(
    `${pending} recorded events could not be moved to their log. Stop all processes that write to the store, then repeat the command.`,
  )
