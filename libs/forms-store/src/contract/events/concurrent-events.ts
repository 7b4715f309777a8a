import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { ApiError } from '@fms/aip'
import { type FormEvent, parseSequence } from '@fms/contracts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FormsStore, StoredForm } from '../../forms-store.ts'
import { formETag } from '../../resource/form-to-json.ts'
import { edited, newForm, newPublicId, type OpenStoreTogether, refOf, snapshot } from '../given.ts'
import { type EngineLimits, numberOfRuns } from '../hostile-names.ts'
import { logOf } from './log-of.ts'

/** A change of one of a few forms by a process. */
interface Step {
  kind: 'create' | 'update' | 'publish' | 'unpublish' | 'delete' | 'recreate'
  /** Which of the known forms. */
  form: number
}

/** A change that the store has acknowledged. */
interface Acknowledged {
  type: string
  formId: string
  /** The ETag that the caller got; undefined if it got none. */
  etag?: string
}

const stepsUpTo = (maxLength: number) =>
  fc.array(
    fc.record<Step>({
      kind: fc.constantFrom(
        'create',
        'update',
        'update',
        'publish',
        'publish',
        'unpublish',
        'delete',
        'recreate',
      ),
      form: fc.nat(2),
    }),
    { minLength: 1, maxLength },
  )

const allow = () => {}

/** The changes of several processes, each with the id of its request. */
class Changes {
  readonly organizationId = randomUUID()
  readonly acknowledged = new Map<string, Acknowledged>()
  readonly #forms: StoredForm[] = []

  constructor() {
    for (let index = 0; index < 3; index++) this.#forms.push(this.#newForm())
  }

  /** Every form that may exist. */
  get forms(): readonly StoredForm[] {
    return this.#forms
  }

  /** Stores the forms that all processes change. */
  async start(store: FormsStore): Promise<void> {
    for (const form of this.#forms) await this.#create(store, form)
  }

  async run(store: FormsStore, { kind, form: index }: Step): Promise<void> {
    const form = this.#forms[index]!
    if (kind === 'create') return this.#create(store, this.#newForm())
    if (kind === 'update') return this.#update(store, form)
    if (kind === 'publish') return this.#publish(store, form)
    if (kind === 'unpublish') return this.#unpublish(store, form)
    const isDeleted = await this.#delete(store, form)
    // The caller that deleted the form is the only one that creates it again.
    if (isDeleted && kind === 'recreate') await this.#create(store, { ...form, publicId: newPublicId() })
  }

  #newForm(): StoredForm {
    return newForm({ organizationId: this.organizationId })
  }

  async #create(store: FormsStore, form: StoredForm): Promise<void> {
    const context = newContext()
    if (!(await store.create(form, context, { idChosenByClient: true })))
      throw new Error('The public id is taken')
    if (!this.#forms.some(({ formId }) => formId === form.formId)) this.#forms.push(form)
    this.#acknowledge(context, { type: 'form.created', formId: form.formId, etag: formETag(form) })
  }

  async #update(store: FormsStore, form: StoredForm): Promise<void> {
    const context = newContext()
    const change = (current: StoredForm) => edited(current, { name: context.httpRequestId })
    const updated = await store.update(refOf(form), change, context)
    if (!updated) return
    this.#acknowledge(context, { type: 'form.updated', formId: form.formId, etag: formETag(updated) })
  }

  async #publish(store: FormsStore, form: StoredForm): Promise<void> {
    const context = newContext()
    const published = await store.publish(refOf(form), randomUUID(), snapshot, undefined, context)
    if (published) this.#acknowledge(context, { type: 'form.published', formId: form.formId })
  }

  async #unpublish(store: FormsStore, form: StoredForm): Promise<void> {
    const context = newContext()
    try {
      const unpublished = await store.unpublish(refOf(form), '', allow, context)
      if (!unpublished) return
      const etag = formETag(unpublished)
      this.#acknowledge(context, { type: 'form.unpublished', formId: form.formId, etag })
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === 'FORM_NOT_LIVE')) throw error
    }
  }

  async #delete(store: FormsStore, form: StoredForm): Promise<boolean> {
    const context = newContext()
    const isDeleted = await store.delete(refOf(form), allow, context)
    if (isDeleted) this.#acknowledge(context, { type: 'form.deleted', formId: form.formId, etag: '' })
    return isDeleted
  }

  #acknowledge({ httpRequestId }: { httpRequestId: string }, change: Acknowledged): void {
    this.acknowledged.set(httpRequestId, change)
  }
}

const newContext = () => ({ actor: { operator: true } as const, httpRequestId: randomUUID() })

const formIdOf = ({ subject }: FormEvent) => subject.split('/').at(-1)!

/** Each acknowledged change has exactly one event, and each event is of an acknowledged change. */
const expectEventPerChange = (log: FormEvent[], { acknowledged }: Changes): void => {
  expect(log.map(({ data }) => data.httpRequestId).sort()).toEqual([...acknowledged.keys()].sort())
  for (const event of log) {
    const { etag, ...change } = acknowledged.get(event.data.httpRequestId)!
    expect({ type: event.type, formId: formIdOf(event) }).toEqual(change)
    if (etag !== undefined) expect(event.data.etag).toBe(etag)
  }
}

/** The events of each form lead from ETag to ETag up to the present one, at increasing times. */
const expectChainPerForm = async (log: FormEvent[], { forms }: Changes, store: FormsStore) => {
  for (const form of forms) {
    const events = log.filter((event) => formIdOf(event) === form.formId)
    let [etag, time] = ['', 0]
    for (const { data, time: next } of events) {
      expect(data.previousEtag).toBe(etag)
      expect(Date.parse(next)).toBeGreaterThan(time)
      etag = data.etag
      time = Date.parse(next)
    }
    const current = await store.get(refOf(form))
    expect(etag).toBe(current ? formETag(current) : '')
  }
}

const sequencesOf = (log: FormEvent[]) => log.map(({ sequence }) => parseSequence(sequence))

const numbersTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

/** Repeats `work` until `isDone`, at least once, and lets others run in between. */
const repeat = async (
  work: () => Promise<unknown>,
  isDone: () => boolean,
  pauseMs: number,
): Promise<void> => {
  do {
    await work()
    await delay(pauseMs)
  } while (!isDone())
}

/** The two properties of events: docs/decisions/0031-number-events-later.md. */
export const concurrentEventsContract = (open: OpenStoreTogether, { slow }: EngineLimits): void => {
  const numRuns = numberOfRuns({ slow }, 60, 2)
  const steps = stepsUpTo(slow ? 4 : 8)
  const everyProcess = fc.tuple(steps, steps, steps)
  // Sequencers without a pause would take all the time of a slow engine.
  const pauseMs = slow ? 50 : 0
  let stores: [FormsStore, ...FormsStore[]]
  beforeAll(async () => {
    stores = (await open(3)) as typeof stores
  })
  afterAll(() => Promise.all(stores.map((store) => store.close())))

  /** Runs the steps of all processes at once, with two sequencers and what is to happen `beside` them. */
  const run = async (
    changes: Changes,
    all: Step[][],
    beside: (store: FormsStore, isDone: () => boolean) => Promise<void> = async () => {},
  ) => {
    let isDone = false
    const work = async (store: FormsStore, steps: Step[]) => {
      for (const step of steps) await changes.run(store, step)
    }
    await changes.start(stores[0])
    const writing = Promise.all(all.map((steps, index) => work(stores[index]!, steps))).finally(() => {
      isDone = true
    })
    const sequencing = stores.slice(1).map((store, index) =>
      repeat(
        () => store.events.sequence(index + 1),
        () => isDone,
        pauseMs,
      ),
    )
    await Promise.all([writing, ...sequencing, beside(stores[0], () => isDone)])
  }

  it('have sequences without gaps, lead from ETag to ETag, and are one for each acknowledged change', async () => {
    const property = fc.asyncProperty(everyProcess, async (all) => {
      const changes = new Changes()

      await run(changes, all)

      const log = await logOf(stores[0], changes.organizationId)
      expect(sequencesOf(log)).toEqual(numbersTo(changes.acknowledged.size))
      expectEventPerChange(log, changes)
      await expectChainPerForm(log, changes, stores[0])
    })
    await fc.assert(property, { numRuns })
  })

  it('are each read once, by position and in pages of any size, while others write', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
    const property = fc.asyncProperty(sizes, everyProcess, async (limits, all) => {
      const changes = new Changes()
      const { organizationId } = changes
      const seen: FormEvent[] = []
      let pages = 0
      const readOn = async (store: FormsStore) => {
        const [from, limit] = [seen.length + 1, limits[pages++ % limits.length]!]
        const page = await store.events.read({ organizationId, from, limit })
        expect(page.length).toBeLessThanOrEqual(limit)
        seen.push(...page)
        return page.length
      }

      await run(changes, all, (store, isDone) => repeat(() => readOn(store), isDone, pauseMs))

      const log = await logOf(stores[0], organizationId)
      while ((await readOn(stores[0])) > 0);
      expect(seen).toEqual(log)
      expect(sequencesOf(seen)).toEqual(numbersTo(changes.acknowledged.size))
    })
    await fc.assert(property, { numRuns })
  })
}
