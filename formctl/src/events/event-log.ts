import { setTimeout as delay } from 'node:timers/promises'
import { type FormEvent, parseSequence } from '@fms/contracts'
import type { EventLog } from '@fms/forms-store'

/** Organizations whose events one call moves. */
const organizationsPerCall = 100

/** Pause while other processes record events, in milliseconds. */
const retryMs = 250

/** How long other processes may do so, in milliseconds. */
const maxWaitMs = 20_000

/** Moves all pending events to their logs. @throws {Error} if some remain after `waitMs`, in milliseconds. */
export const collectEvents = async (events: EventLog, waitMs = maxWaitMs): Promise<void> => {
  const deadlineMs = performance.now() + waitMs
  for (;;) {
    while ((await events.sequence(organizationsPerCall)) > 0);
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

/** Events in memory at once. */
const eventsPerRead = 500

/** Reads a log by `sequence`, from one on to its end. @throws {Error} if retention has removed one of the events. */
export async function* readEvents(
  log: EventLog,
  organizationId: string,
  from: number,
): AsyncGenerator<FormEvent> {
  for (let next = from; ; ) {
    const events = await log.read({ organizationId, from: next, limit: eventsPerRead })
    for (const event of events) {
      const sequence = parseSequence(event.sequence)
      if (sequence !== next) throw eventsPruned(next, sequence)
      yield event
      next++
    }
    if (events.length < eventsPerRead) return
  }
}

const eventsPruned = (expected: number, oldest: number): Error =>
  new Error(
    `Events ${expected} to ${oldest - 1} are not in the log any more. Changes are missing in between: ` +
      `export or list the forms first. Then continue with --after ${oldest - 1}.`,
  )
