import type { EventLog } from '@fms/forms-store'
import { expect, it, vi } from 'vitest'
import { createStreamCheckpoints } from './stream-checkpoints.ts'
import { patience } from './testing/start-relaying.ts'

it('waits only once for a store that fails while the relay stops', async () => {
  const locked = Promise.withResolvers<void>()
  const markStreamed = vi.fn<EventLog['markStreamed']>(() => locked.promise)
  const checkpoints = createStreamCheckpoints({ markStreamed } as Partial<EventLog> as EventLog, () => {})
  checkpoints.set('organization', 1)
  await vi.waitUntil(() => markStreamed.mock.calls.length > 0, patience)

  const stopped = checkpoints.stop()
  locked.reject(new Error('The database is locked'))
  await stopped

  expect(markStreamed.mock.calls).toHaveLength(1)
})
