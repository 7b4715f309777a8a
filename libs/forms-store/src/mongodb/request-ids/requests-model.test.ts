import { randomUUID } from 'node:crypto'
import { ApiError } from '@fms/aip'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edited, newForm, snapshot } from '../../contract/given.ts'
import type { StoredForm } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { type ChangeMethod, RequestReplay } from '../../requests/identified-request.ts'
import { createForm } from '../changes/create-form.ts'
import { deleteForm } from '../changes/delete-form.ts'
import { publishForm } from '../changes/publish-form.ts'
import { type Failure, interleave, type Turn } from '../changes/testing/interleave.ts'
import { unpublishForm } from '../changes/unpublish-form.ts'
import { updateForm } from '../changes/update-form.ts'
import { purgeForm } from '../deleted-forms/purge-form.ts'
import { undeleteForm } from '../deleted-forms/undelete-form.ts'
import type { FormsCollections } from '../documents.ts'
import { collectEvents } from '../events/collect-events.ts'
import { toFormEvent } from '../events/import-event.ts'
import type { ChangeRecorder } from '../events/record-event.ts'
import { readDeletedRecord, readRecord } from '../records/export-forms.ts'
import { allow, retry, startFormsStore } from '../testing.ts'
import { withRequest } from './request-in-progress.ts'

const { collections } = await startFormsStore({ quick: true })

/** Cases of one run. Thousands of them, on jongodb, take a few minutes. */
const numRuns = Number(process.env.FC_RUNS ?? 50)

/** How long a deleted form can be restored. */
const days = 30

/** A request: the same `requestId` and the same body each time that it is sent. */
interface Request {
  method: ChangeMethod
  requestId: string
}

/** Sends a request once. */
const send = (on: FormsCollections, form: StoredForm, { method, requestId }: Request): Promise<unknown> => {
  const ref = { organizationId: form.organizationId, formRef: form.formId }
  const rename = (current: StoredForm) => edited(current, { name: requestId })
  const changes: Record<ChangeMethod, (recorder: ChangeRecorder) => Promise<unknown>> = {
    // Each repeat has ids of its own, of which the first ones count.
    create: (recorder) => {
      const { organizationId, formId } = form
      return createForm(on, noQuota, newForm({ organizationId, formId }), recorder, { hasClientId: true })
    },
    update: (recorder) => retry(ref, () => updateForm(on, noQuota, ref, rename, recorder)),
    rollback: (recorder) =>
      retry(ref, () => updateForm(on, noQuota, ref, rename, recorder, { revisionId: requestId, number: 1 })),
    unpublish: (recorder) => retry(ref, () => unpublishForm(on, ref, '', allow, recorder)),
    delete: (recorder) => deleteForm(on, ref, allow, recorder, days),
    undelete: (recorder) => undeleteForm(on, noQuota, { ref, check: allow, recorder }, retry),
    purge: (recorder) => retry(ref, () => purgeForm(on, ref, allow, recorder)),
  }
  const context = {
    actor: { operator: true } as const,
    httpRequestId: requestId,
    request: { requestId, method, digest: method },
  }
  return withRequest(on, form.organizationId, { context, onRecorded: () => {} }, changes[method])
}

/** What became of a request: carried out, now or before, or refused, with the reason. */
const outcomeOf = async (sent: Promise<unknown>): Promise<string> => {
  try {
    return (await sent) ? 'done' : 'not found'
  } catch (error) {
    if (error instanceof RequestReplay) return 'done'
    if (error instanceof ApiError) return error.reason
    throw error
  }
}

const collectAll = async () => {
  while ((await collectEvents(collections, 100, Number.MAX_SAFE_INTEGER)) > 0);
}

/** The events of a form, in order. */
const eventsOf = async ({ organizationId, formId }: StoredForm) => {
  await collectAll()
  const found = collections.events.find({ organizationId, formId }, { sort: { sequence: 1 } })
  return (await Array.fromAsync(found)).map(toFormEvent)
}

/** The state of a form without what differs between two organizations. */
const stateOf = async (form: StoredForm) => {
  const record = (await readRecord(collections, form)) ?? (await readDeletedRecord(collections, form))
  const events = (await eventsOf(form)).map(({ type, data }) => [type, data.httpRequestId, data.etag])
  if (!record) return { events }
  const { draft, version, live, revisions, deletion } = record
  const numbers = revisions.map(({ number }) => number)
  return { events, draft, version, live: live?.number, numbers, isDeleted: deletion !== undefined }
}

const methods = ['create', 'update', 'rollback', 'unpublish', 'delete', 'undelete', 'purge'] as const

/** A request of a case: how its copies fail, and in which order they send their requests to the store. */
interface Step {
  method: (typeof methods)[number] | 'publish'
  copies: (Failure | undefined)[]
  turns: Turn[]
}

/** More requests than any change sends to the store. */
const mostRequests = 25

const failures: fc.Arbitrary<Failure> = fc.record({
  after: fc.nat(mostRequests - 1),
  kind: fc.constantFrom('kill', 'lose response'),
})
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    method: fc.constantFrom(...methods, 'publish', 'delete', 'undelete', 'create', 'delete'),
    copies: fc.array(fc.option(failures, { nil: undefined, freq: 3 }), { minLength: 1, maxLength: 5 }),
    turns: fc.array(fc.record({ process: fc.nat(4), requests: fc.integer({ min: 1, max: 8 }) }), {
      maxLength: 12,
      size: 'max',
    }),
  }),
  { minLength: 2, maxLength: 7, size: 'max' },
)

const publish = ({ organizationId, formId }: StoredForm) => {
  const recorder = {
    context: { actor: { operator: true } as const, httpRequestId: '' },
    onRecorded: () => {},
  }
  const command = { commandId: randomUUID(), snapshot, beforeStoring: undefined, recorder }
  return publishForm(collections, noQuota, { ...command, ref: { organizationId, formRef: formId } }, retry)
}

/** Sends a request as often as the step says, and once more without a failure, as clients do. */
const sendOften = async (form: StoredForm, request: Request, { copies, turns }: Step): Promise<string> => {
  const operations = [(on: FormsCollections) => send(on, form, request)]
  const plans = copies.map((failure) => ({ operations, failure }))
  await interleave(collections, plans, turns, async () => {})
  return outcomeOf(send(collections, form, request))
}

const check = async (plan: Step[]): Promise<void> => {
  const formId = randomUUID()
  const [repeating, reference] = [newForm({ formId }), newForm({ formId })]
  const requests: [Request, string][] = []
  for (const step of [{ method: 'create', copies: [], turns: [] } satisfies Step, ...plan]) {
    const { method } = step
    if (method === 'publish') {
      await Promise.all([repeating, reference].map(publish))
      continue
    }
    const request = { method, requestId: randomUUID() }
    const outcome = await outcomeOf(send(collections, reference, request))
    expect(await sendOften(repeating, request, step), method).toBe(outcome)
    requests.push([request, outcome])
  }
  const state = await stateOf(repeating)
  expect(state).toEqual(await stateOf(reference))
  for (const [request, outcome] of requests) {
    if (outcome === 'done') expect(await outcomeOf(send(collections, repeating, request))).toBe('done')
  }
  expect(await stateOf(repeating)).toEqual(state)
  // Some engines scan whole collections.
  for (const { organizationId } of [repeating, reference]) {
    for (const collection of Object.values(collections)) await collection.deleteMany({ organizationId })
  }
}

describe('any sequence of requests, each sent one to six times, with one request at a time in any order', () => {
  it(
    'leaves the store as if each had been sent once, also when processes are killed',
    async () => {
      await fc.assert(fc.asyncProperty(steps, check), { numRuns })
    },
    120_000 + 5_000 * numRuns,
  )
})

describe('a request of which one response of the store is lost, or whose process is killed', () => {
  const isDeletedBefore = (method: ChangeMethod) => method === 'undelete' || method === 'purge'

  it.each(
    methods.flatMap((method) => (['lose response', 'kill'] as const).map((kind) => [method, kind] as const)),
  )('is carried out by its repeat: %s, %s', async (method, kind) => {
    for (let after = 0; after < mostRequests; after++) {
      const form = newForm()
      if (method !== 'create') {
        await send(collections, form, { method: 'create', requestId: randomUUID() })
        await publish(form)
      }
      if (isDeletedBefore(method))
        await send(collections, form, { method: 'delete', requestId: randomUUID() })

      const request = { method, requestId: randomUUID() }
      const outcome = await sendOften(form, request, { method, copies: [{ after, kind }], turns: [] })

      expect(outcome, `after ${after} requests`).toBe('done')
    }
  })
})

describe('a request that is delayed before any of its requests to the store', () => {
  /** Runs `late` up to its request `after`, then `others`, then the rest of `late`. */
  const runDelayed = async (after: number, late: () => Request, others: Request[], form: StoredForm) => {
    const sendOne = (request: Request) => (on: FormsCollections) => outcomeOf(send(on, form, request))
    const plans = [
      { operations: [sendOne(late())], failure: undefined },
      { operations: others.map(sendOne), failure: undefined },
    ]
    // The first turn goes to the late one, the next to the others until they are done.
    const turns = [...(after > 0 ? [{ process: 0, requests: after }] : []), { process: 1, requests: 1_000 }]
    const outcomes = await interleave(collections, plans, turns, async () => {})
    return outcomes.flat().map(({ result }) => result?.value)
  }
  const newRequest = (method: ChangeMethod): Request => ({ method, requestId: randomUUID() })
  const delays = Array.from({ length: 16 }, (_, requests) => requests)

  it.each(delays)(
    'does not create a form again that was deleted meanwhile: after %i requests',
    async (after) => {
      const form = newForm()
      const create = newRequest('create')

      const others = [create, newRequest('update'), newRequest('delete')]
      const outcomes = await runDelayed(after, () => create, others, form)

      expect(outcomes).toEqual(outcomes.map(() => 'done'))
      expect(await readRecord(collections, form)).toBeUndefined()
      expect(await readDeletedRecord(collections, form)).toBeDefined()
      const types = (await eventsOf(form)).map(({ type }) => type)
      expect(types).toEqual(['form.created', 'form.updated', 'form.deleted'])
    },
  )

  it.each(delays)(
    'does not restore a form again that was deleted meanwhile: after %i requests',
    async (after) => {
      const form = newForm()
      await send(collections, form, newRequest('create'))
      await send(collections, form, newRequest('delete'))
      const undelete = newRequest('undelete')

      const others = [undelete, newRequest('update'), newRequest('delete')]
      const outcomes = await runDelayed(after, () => undelete, others, form)

      expect(outcomes).toEqual(outcomes.map(() => 'done'))
      expect(await readRecord(collections, form)).toBeUndefined()
      expect((await readDeletedRecord(collections, form))?.version).toBe(2)
      const types = (await eventsOf(form)).map(({ type }) => type)
      expect(types.slice(2)).toEqual(['form.undeleted', 'form.updated', 'form.deleted'])
    },
  )
})
