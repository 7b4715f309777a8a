import { setTimeout as delay } from 'node:timers/promises'
import { type FormRecord, maxEventBytes } from '@fms/contracts'
import { startMongo } from '@fms/testkit/mongodb'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newForm } from '../contract/given.ts'
import type { FormsStore, FormsStoreOptions } from '../forms-store.ts'
import { anyChange, type FormChange, type Outcome, outcomeOf, RunIds } from './testing/changes.ts'
import { type Engine, type Kill, startMongodb, startSqlite } from './testing/engines.ts'
import { FormsModel } from './testing/model.ts'
import { glance, observe } from './testing/observe.ts'

const numRuns = Number(process.env.FC_RUNS ?? 3)

/** A failure is made smaller until half a minute before. */
const timeoutMs = 120_000 + numRuns * 5_000

const quota = { forms: 2, bytes: 12 * newForm().draftJson.length + maxEventBytes }

/** Two instances have an engine open: deleted forms can be restored on the first one. */
const days = [30, 0] as const
const optionsOf = (instance: number): FormsStoreOptions => ({
  quota,
  clears: false,
  deletedFormsDays: days[instance]!,
})

type Step =
  | { step: 'change'; instance: number; change: FormChange }
  | { step: 'repeat the last change elsewhere' }
  | { step: 'two changes at once'; one: FormChange; other: FormChange }
  | { step: 'kill'; instance: number; change: FormChange; kill: Kill }
  | { step: 'read'; instance: number }
  | { step: 'reopen'; instance: number }
  | { step: 'keep records' }
  | { step: 'clear' }
  | { step: 'let time pass'; ms: number }

const instance = fc.constantFrom(0, 0, 1)
const kill = fc.record({ at: fc.integer({ min: 1, max: 7 }), isCarriedOut: fc.boolean() })
const second = 1_000
const day = 24 * 60 * 60 * second

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ step: fc.constant('change'), instance, change: anyChange }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constant('repeat the last change elsewhere') }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(anyChange, anyChange)
      .map(([one, { kind }]) => ({ step: 'two changes at once', one, other: { ...one, kind } })),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('kill'), instance, change: anyChange, kill }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('read'), instance }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('reopen'), instance }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('keep records') }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('clear') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('let time pass'),
      // A clock may go back.
      ms: fc.constantFrom(second, 31 * day, -10 * second),
    }),
  },
) as fc.Arbitrary<Step>

/** Each run begins with a published form. */
const first: Omit<FormChange, 'kind'> = {
  organization: 0,
  form: 0,
  publicId: 0,
  isByPublicId: false,
  command: 0,
  request: undefined,
  digest: 0,
  replies: [],
  name: 'a',
  size: 0,
  importAs: 'itself',
  isUser: true,
}
const start: Step[] = [
  { step: 'change', instance: 0, change: { ...first, kind: 'create' } },
  { step: 'change', instance: 0, change: { ...first, kind: 'publish' } },
  { step: 'keep records' },
]

/** An engine that takes the steps of one run, and what it should have. */
class Side {
  readonly #engine: Engine
  readonly #stores: FormsStore[]
  readonly #ids: RunIds
  #model = new FormsModel(quota)
  #kept: FormRecord[] = []
  #last: { instance: number; change: FormChange } | undefined

  constructor(engine: Engine, stores: FormsStore[], ids: RunIds) {
    this.#engine = engine
    this.#stores = stores
    this.#ids = ids
  }

  async run(step: Step): Promise<void> {
    if (step.step === 'change') await this.#change(step.instance, step.change)
    if (step.step === 'repeat the last change elsewhere' && this.#last)
      await this.#change(1 - this.#last.instance, this.#last.change)
    if (step.step === 'two changes at once') await this.#changeAtOnce([step.one, step.other])
    if (step.step === 'kill') await this.#kill(step.instance, step.change, step.kill)
    if (step.step === 'read') await this.#read(step.instance)
    if (step.step === 'reopen') await this.#reopen(step.instance)
    if (step.step === 'clear') await this.#clear()
    if (step.step === 'keep records')
      this.#kept = (await glance(this.#model, this.#ids)).flatMap(({ records }) => records)
  }

  async end(): Promise<void> {
    await this.#read(0)
    await this.#clear()
    await this.#read(1)
  }

  async #change(instance: number, change: FormChange): Promise<void> {
    this.#last = { instance, change }
    const expected = await this.#expect(this.#model, instance, change)
    expect(await this.#outcome(this.#stores[instance]!, change)).toEqual(expected)
  }

  /** One change of each instance. Either may be the first one. */
  async #changeAtOnce(changes: readonly [FormChange, FormChange]): Promise<void> {
    const outcomes = await Promise.all(
      changes.map((change, index) => this.#outcome(this.#stores[index]!, change)),
    )
    const orders = [
      [0, 1],
      [1, 0],
    ].map(async (order) => {
      const model = this.#model.clone()
      const expected: Outcome[] = []
      for (const index of order) expected[index] = await this.#expect(model, index, changes[index]!)
      return { model, expected }
    })
    await this.#settle({ outcomes }, await Promise.all(orders))
  }

  /** The killed change has happened or not; its repeat gets the answer to that. */
  async #kill(instance: number, change: FormChange, kill: Kill): Promise<void> {
    // Otherwise a change may clear first, and be killed in between.
    await this.#clear()
    const outcome = await this.#engine.killDuring(optionsOf(instance), kill, (store) =>
      this.#outcome(store, change),
    )
    const after = this.#model.clone()
    const expected = await this.#expect(after, instance, change)
    const isDone = outcome !== undefined
    await this.#settle(isDone ? { outcomes: outcome } : {}, [
      ...(isDone ? [] : [{ model: this.#model.clone() }]),
      { model: after, ...(isDone && { expected }) },
    ])
    await this.#change(instance, change)
  }

  /** Continues with the model that is right. */
  async #settle(
    { outcomes }: { outcomes?: unknown },
    candidates: { model: FormsModel; expected?: unknown }[],
  ): Promise<void> {
    const actual = { outcomes, state: await glance(this.#stores[0]!, this.#ids) }
    let failure: unknown
    for (const { model, expected } of candidates) {
      try {
        expect(actual).toEqual({ outcomes: expected, state: await glance(model, this.#ids) })
        this.#model = model
        return
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  async #read(instance: number): Promise<void> {
    const actual = await observe(this.#stores[instance]!, this.#ids)
    expect(actual).toEqual(await observe(this.#model, this.#ids))
  }

  async #reopen(instance: number): Promise<void> {
    await this.#stores[instance]!.close()
    this.#stores[instance] = await this.#engine.open(optionsOf(instance))
  }

  async #clear(): Promise<void> {
    await this.#model.clear()
    const usage = (store: Pick<FormsStore, 'usage' | 'listDeleted'>) =>
      Promise.all(
        this.#ids.organizations.map(async (organizationId) => ({
          ...(await store.usage(organizationId)),
          deleted: (await store.listDeleted({ organizationId, limit: 1, skip: 0 })).totalSize,
        })),
      )
    const [expected, actual] = [await usage(this.#model), await usage(this.#stores[0]!)]
    if (JSON.stringify(expected) === JSON.stringify(actual)) return
    await using store = await this.#engine.open({ ...optionsOf(0), clears: true })
    const deadline = performance.now() + 20_000
    while (JSON.stringify(await usage(store)) !== JSON.stringify(expected)) {
      if (performance.now() > deadline) expect(await usage(store)).toEqual(expected)
      await delay(5)
    }
  }

  #outcome(store: FormsStore, change: FormChange): Promise<Outcome> {
    return outcomeOf({ store, change, ids: this.#ids, kept: this.#kept })
  }

  #expect(model: FormsModel, instance: number, change: FormChange): Promise<Outcome> {
    model.deletedFormsDays = days[instance]!
    return outcomeOf({ store: model, change, ids: this.#ids, kept: this.#kept })
  }
}

describe('the forms stores on SQLite and MongoDB', () => {
  const engines: { engine: Engine; stores: FormsStore[] }[] = []
  beforeAll(async () => {
    for (const engine of [await startSqlite(), await startMongodb(await startMongo())]) {
      const stores = await Promise.all(days.map((_, instance) => engine.open(optionsOf(instance))))
      engines.push({ engine, stores })
    }
    vi.useFakeTimers({ toFake: ['Date'] })
  })
  afterAll(async () => {
    vi.useRealTimers()
    for (const { engine, stores } of engines) {
      await Promise.all(stores.map((store) => store.close()))
      await engine[Symbol.asyncDispose]()
    }
  })

  it(
    'answer, record and count as the model does, also after kills, repeats and changes at once',
    async () => {
      const steps = fc.array(anyStep, { minLength: 1, maxLength: 40, size: 'max' })
      const property = fc.asyncProperty(steps, async (all) => {
        const ids = new RunIds()
        let now = Date.UTC(2026, 10, 20, 9, 30)
        vi.setSystemTime(now)
        const sides = engines.map(({ engine, stores }) => new Side(engine, stores, ids))
        for (const step of [...start, ...all]) {
          now += step.step === 'let time pass' ? step.ms : second
          vi.setSystemTime(now)
          await Promise.all(sides.map((side) => side.run(step)))
        }
        await Promise.all(sides.map((side) => side.end()))
      })
      await fc.assert(property, { numRuns, interruptAfterTimeLimit: timeoutMs - 30_000 })
    },
    timeoutMs,
  )
})
