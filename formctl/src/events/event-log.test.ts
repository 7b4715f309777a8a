import type { EventBacklog, EventLog } from '@fms/forms-store'
import { expect, it } from 'vitest'
import { collectEvents } from './event-log.ts'

/** A log into which others record events until some calls of `backlog`. */
const givenLog = (callsUntilMovable: number) => {
  const state = { pending: 3, calls: 0 }
  const events: Pick<EventLog, 'sequence' | 'backlog'> = {
    async sequence() {
      if (state.calls < callsUntilMovable || state.pending === 0) return 0
      state.pending--
      return 1
    },
    async backlog(): Promise<EventBacklog> {
      state.calls++
      return { pending: state.pending, unstreamed: 0 }
    },
  }
  return { state, events: events as EventLog }
}

it('waits for events that are recorded meanwhile', async () => {
  const { events, state } = givenLog(2)

  await collectEvents(events)

  expect(state.pending).toBe(0)
})

it('fails if events remain', async () => {
  const { events } = givenLog(Number.POSITIVE_INFINITY)

  await expect(collectEvents(events, 0)).rejects.toThrow(
    '3 recorded events could not be moved to their log. Stop all processes that write to the store',
  )
})
