import { expect, it, vi } from 'vitest'
import { countTurns } from '../testing/count-turns.ts'
import { givenEvents } from '../testing/given-events.ts'
import { startForms } from '../testing/start-forms.ts'
import { EventTails } from './event-tails.ts'

it('lets others run between two chunks of a log that has grown by many events', async () => {
  await using service = await startForms()
  await givenEvents(service, 600)
  using turns = countTurns()
  const grownAt: number[] = []
  const grown = () => grownAt.push(turns.now())

  const tail = new EventTails(service.forms.events).follow(service.organizationId, 0, grown)
  await vi.waitUntil(() => tail.lastSequence === 600)
  tail.unfollow(grown)

  expect(new Set(grownAt).size).toBe(3)
})
