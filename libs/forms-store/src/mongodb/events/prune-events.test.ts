import { MongoDatabase } from '@fms/store-kit/mongodb'
import { expect, it } from 'vitest'
import { collectAll, logOf } from '../../contract/events/log-of.ts'
import { edited, givenForm, refOf } from '../../contract/given.ts'
import { formsCollections } from '../documents.ts'
import { startFormsStore } from '../testing.ts'
import { pruneEvents } from './prune-events.ts'

const { url, store, collections } = await startFormsStore()

const future = () => new Date(Date.now() + 60_000)

it('changes nothing in a log that another process has pruned further meanwhile', async () => {
  const form = await givenForm(store)
  const { organizationId } = form
  for (let change = 0; change < 5; change++) {
    await store.update(refOf(form), (current) => edited(current, {}))
  }
  await collectAll(store)
  await store.events.markStreamed(organizationId, 6)
  await using database = new MongoDatabase(url)
  const { events, ...others } = formsCollections(database)
  // After the first read of events.
  const overtaken = new Proxy(events, {
    get(target, name) {
      if (name !== 'findOne') return Reflect.get(target, name).bind(target)
      return async (...parameters: Parameters<typeof target.findOne>) => {
        await pruneEvents(collections, future(), 100)
        return target.findOne(...parameters)
      }
    },
  })

  expect(await pruneEvents({ ...others, events: overtaken }, future(), 2)).toBe(0)

  expect((await logOf(store, organizationId)).map(({ sequence }) => Number(sequence))).toEqual([6])
  expect(await store.events.range(organizationId)).toEqual({ oldestSequence: 6, lastSequence: 6 })
})
