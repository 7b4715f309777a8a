import { MongoDatabase } from '@fms/store-kit/mongodb'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logOf } from '../../contract/events/log-of.ts'
import { atOnce, edited, givenForm, newForm, publish, refOf } from '../../contract/given.ts'
import { formsCollections } from '../documents.ts'
import { startFormsStore } from '../testing.ts'
import { numberEvents } from './number-events.ts'

const { url, store, collections } = await startFormsStore()

/** A relay that fails for good at a write, as if its process were killed there. */
const killedRelay = async (writes: number): Promise<void> => {
  let left = writes
  const beforeWrite = () => {
    if (left-- <= 0) throw new Error('killed')
  }
  await using database = new MongoDatabase(url, beforeWrite)
  await numberEvents(formsCollections(database), 100).catch(() => {})
}

const relay = () => numberEvents(collections, 100)

describe('numberEvents', () => {
  it('leaves no gap and numbers nothing twice, whatever relays run and are killed', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('changes' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('relays' as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('killed' as const), count: fc.integer({ min: 0, max: 2 }) }),
    )
    const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 })

    await fc.assert(
      fc.asyncProperty(rounds, async (steps) => {
        const { organizationId } = newForm()
        const forms = await atOnce(3, () => givenForm(store, { organizationId }))
        let changes = 3
        const run = {
          changes: (count: number) => {
            changes += count
            return atOnce(count, (index) =>
              store.update(refOf(forms[index % 3]!), (current) =>
                edited(current, { name: `Form ${changes}` }),
              ),
            )
          },
          relays: (count: number) => atOnce(count, relay),
          killed: (count: number) => killedRelay(count),
        }
        for (const round of steps) await Promise.all(round.map(({ kind, count }) => run[kind](count)))
        while ((await relay()) > 0);

        const log = await logOf(store, organizationId)
        expect(log.map(({ sequence }) => Number(sequence))).toEqual(
          Array.from({ length: changes }, (_, index) => index + 1),
        )
        for (const { formId } of forms) {
          const times = log.filter(({ subject }) => subject.endsWith(formId)).map(({ time }) => time)
          expect(times).toEqual(times.toSorted())
        }
        const { total } = (await collections.events.findOne({ organizationId, position: changes }))!
        expect(await store.usage(organizationId)).toEqual({ forms: total!.forms, bytes: total!.bytes })
        const drafts = await Promise.all(forms.map((form) => store.get(refOf(form))))
        const bytes = drafts.reduce((sum, form) => sum + Buffer.byteLength(form!.draftJson), 0)
        expect(total).toMatchObject({ forms: 3, bytes })
      }),
      { numRuns: Number(process.env.FC_RUNS ?? 8) },
    )
  })

  it('announces events before they are numbered, so that the stream gets them if a relay is killed', async () => {
    const { organizationId } = await givenForm(store)

    await killedRelay(1)

    expect(await logOfNow(organizationId)).toEqual([])
    const behind = await store.events.findUnstreamed(1_000)
    expect(behind.map((log) => log.organizationId)).toContain(organizationId)
  })

  it('has the usage of pending events, numbered ones, and changes without an event in one sum', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    const { formJson } = await publish(store, form)
    const usage = { forms: 1, bytes: Buffer.byteLength(form.draftJson) + Buffer.byteLength(formJson) }

    expect(await store.usage(organizationId)).toEqual(usage)
    await relay()
    expect(await store.usage(organizationId)).toEqual(usage)
  })
})

const logOfNow = (organizationId: string) => store.events.read({ organizationId, limit: 10 })
