import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logBytesOf, logOf } from '../../contract/events/log-of.ts'
import { atOnce, edited, givenForm, newForm, publish, refOf } from '../../contract/given.ts'
import type { FormsCollections } from '../documents.ts'
import { startFormsStore } from '../testing.ts'
import { numberEvents } from './number-events.ts'
import { pruneEvents } from './prune-events.ts'

const { store, collections } = await startFormsStore()

/** A process that fails for good at a write, as if it were killed there. */
const killedAfter = async (writes: number, work: (killed: FormsCollections) => Promise<unknown>) => {
  let left = writes
  const killable = <T extends object>(collection: T): T =>
    new Proxy(collection, {
      get(target, name) {
        const isRead = /^(find|has|count|distinct|aggregate)/.test(String(name))
        if (!isRead && left-- <= 0) throw new Error('killed')
        return (Reflect.get(target, name) as () => unknown).bind(target)
      },
    })
  const { events, eventLogs } = collections
  const killed = { ...collections, events: killable(events), eventLogs: killable(eventLogs) }
  await work(killed).catch(() => {})
}

const killedRelay = (writes: number) => killedAfter(writes, (killed) => numberEvents(killed, 100))

/** Everything that is in the stream may go. */
const everything = { before: Number.POSITIVE_INFINITY, maxEvents: Number.POSITIVE_INFINITY, youngest: 0 }

const relay = () => numberEvents(collections, 100)

describe('numberEvents', () => {
  it('leaves no gap and numbers nothing twice, whatever relays run and are killed', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('changes' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constant('relays' as const), count: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('killed' as const), count: fc.integer({ min: 0, max: 2 }) }),
    )
    const steps = fc.array(step, { minLength: 1, maxLength: 4 })
    // Retention never runs beside a relay that is slower than events grow old.
    const prune = fc.option(fc.record({ limit: fc.integer({ min: 1, max: 5 }), writes: fc.nat(2) }))
    const rounds = fc.array(fc.record({ steps, prune }), { minLength: 1, maxLength: 5 })

    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
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
        const isExact = async () => {
          const drafts = await Promise.all(forms.map((form) => store.get(refOf(form))))
          const content = drafts.reduce((sum, form) => sum + Buffer.byteLength(form!.draftJson), 0)
          const usage = await store.usage(organizationId)
          const bytes = content + (await logBytesOf(store, organizationId))
          expect(usage).toEqual({ forms: 3, bytes })
        }
        for (const { steps, prune } of all) {
          await Promise.all(steps.map(({ kind, count }) => run[kind](count)))
          if (!prune) continue
          await isExact()
          await store.events.markStreamed(organizationId, changes)
          await killedAfter(prune.writes, (killed) => pruneEvents(killed, everything, prune.limit))
          await isExact()
        }
        while ((await relay()) > 0);

        const log = await logOf(store, organizationId)
        expect(log.map(({ sequence }) => Number(sequence))).toEqual(
          Array.from({ length: log.length }, (_, index) => changes - log.length + index + 1),
        )
        for (const { formId } of forms) {
          const times = log.filter(({ subject }) => subject.endsWith(formId)).map(({ time }) => time)
          expect(times).toEqual(times.toSorted())
        }
        await isExact()
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

  it('gives each organization its turn while others record more', async () => {
    while ((await relay()) > 0);
    const forms = await atOnce(2, () => givenForm(store))
    const logs = () => Promise.all(forms.map(({ organizationId }) => logOfNow(organizationId)))

    for (let round = 0; round < 40 && (await logs()).some((log) => log.length === 0); round++) {
      for (const form of forms)
        await store.update(refOf(form), (current) => edited(current, { name: `Form ${round}` }))
      await numberEvents(collections, 1)
    }

    expect((await logs()).map((log) => log.length > 0)).toEqual([true, true])
  })

  it('has the usage of pending events, numbered ones, and changes without an event in one sum', async () => {
    const form = await givenForm(store)
    const { organizationId } = form
    const { formJson } = await publish(store, form)
    const usage = await store.usage(organizationId)

    await relay()

    expect(await store.usage(organizationId)).toEqual(usage)
    const content = Buffer.byteLength(form.draftJson) + Buffer.byteLength(formJson)
    expect(usage).toEqual({ forms: 1, bytes: content + (await logBytesOf(store, organizationId)) })
  })
})

const logOfNow = (organizationId: string) => store.events.read({ organizationId, limit: 10 })
