import { randomUUID } from 'node:crypto'
import { ApiError } from '@fms/aip'
import type { FormEvent, FormRecord } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edited, newForm, newRevision, snapshot } from '../../contract/given.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { FormRef, StoredForm } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import {
  type ChangeMethod,
  type IdentifiedRequest,
  RequestReplay,
} from '../../requests/identified-request.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { clearDeletions } from '../changes/clear-deletions.ts'
import { createForm } from '../changes/create-form.ts'
import { deleteForm } from '../changes/delete-form.ts'
import { publishForm } from '../changes/publish-form.ts'
import { recordReplies } from '../changes/record-replies.ts'
import { type Failure, interleave, type Outcome, type Turn } from '../changes/testing/interleave.ts'
import { unpublishForm } from '../changes/unpublish-form.ts'
import { updateForm } from '../changes/update-form.ts'
import { purgeForm } from '../deleted-forms/purge-form.ts'
import { undeleteForm } from '../deleted-forms/undelete-form.ts'
import type { EventDocument, FormDocument, FormsCollections } from '../documents.ts'
import { importForm } from '../records/import-form.ts'
import { withRequest } from '../request-ids/request-in-progress.ts'
import { allow, retry, retryBriefly, startFormsStore } from '../testing.ts'
import { collectEvents } from './collect-events.ts'
import { toFormEvent } from './import-event.ts'
import type { ChangeRecorder } from './record-event.ts'

const { collections } = await startFormsStore({ quick: true })

/** Cases of one run. 2,000 of them, on jongodb, take a few minutes. */
const numRuns = Number(process.env.FC_RUNS ?? 60)
const never = new AbortController().signal

const changes = [
  'create',
  'patch',
  'publish',
  'unpublish',
  'delete',
  'delete for good',
  'undelete',
  'purge',
  'import',
] as const
const kinds = [...changes, 'reply', 'clear', 'collect'] as const
type Kind = (typeof kinds)[number]

interface Planned {
  kind: Kind
  /** Which of the forms. */
  form: number
  /** Which of the commands: two publishes may have the same. */
  command: number
  /** Which of the request ids: two changes of a kind may have the same. Undefined for none. */
  request: number | undefined
}

interface Case {
  /** What is there of each form: nothing, an imported form, or a deleted one whose events are pending. */
  given: ('nothing' | 'form' | 'deleted')[]
  processes: { operations: Planned[]; failure: Failure | undefined }[]
  turns: Turn[]
}

const operations = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom(...kinds) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          'delete',
          'create',
          'undelete',
          'publish',
          'publish',
          'unpublish',
          'import' as const,
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom('collect' as const) },
    ),
    // Most of them change the same form.
    form: fc.constantFrom(0, 0, 0, 1),
    command: fc.nat(2),
    request: fc.option(fc.nat(1), { nil: undefined, freq: 2 }),
  }),
  { minLength: 1, maxLength: 4, size: 'max' },
)
const failures: fc.Arbitrary<Failure> = fc.record({
  after: fc.nat(20),
  kind: fc.constantFrom('kill', 'lose response'),
})
const cases: fc.Arbitrary<Case> = fc.record({
  given: fc.array(fc.constantFrom('form', 'form', 'deleted', 'nothing'), { minLength: 2, maxLength: 2 }),
  processes: fc.array(fc.record({ operations, failure: fc.option(failures, { nil: undefined, freq: 2 }) }), {
    minLength: 2,
    maxLength: 4,
    size: 'max',
  }),
  turns: fc.array(fc.record({ process: fc.nat(3), requests: fc.integer({ min: 1, max: 12 }) }), {
    maxLength: 25,
    size: 'max',
  }),
})

const newRecorder = (httpRequestId: string = randomUUID(), request?: IdentifiedRequest): ChangeRecorder => ({
  context: { ...operatorContext, httpRequestId, request },
  onRecorded: () => {},
})

/** How long a deleted form can be restored. */
const days = 30

/** A change that became visible, as its event in the log has to be. */
type Expected = Pick<EventDocument, 'incarnation' | 'number'> & { id: unknown; type: string }

/** A form of a case, the record that restores it, and the changes that were visible. */
class Subject {
  readonly form: StoredForm
  readonly record: FormRecord
  readonly commandIds = Array.from({ length: 3 }, () => randomUUID())
  readonly expected: Expected[] = []
  readonly requestIds = Array.from({ length: 2 }, () => randomUUID())
  #current: FormDocument | undefined
  /** The process that has deleted the form last, and the one that has inserted it too late after that. */
  #deleter: number | undefined
  #lateInserter: number | undefined

  constructor(organizationId: string) {
    this.form = newForm({ organizationId, live: true })
    // A repeat of the first command makes its revision live.
    const commandIds = [randomUUID(), this.commandIds[0]!]
    const revisions = commandIds.map((commandId, index) =>
      newRevision(this.form, { commandId, number: index + 1 }),
    )
    const liveRevisionId = revisions[0]!.revisionId
    const history = { revisionNumber: 2, liveNumber: 1, liveRevisionId, revisions, replyIds: [] }
    this.record = toFormRecord(this.form, history)
  }

  get ref(): FormRef {
    return { organizationId: this.form.organizationId, formRef: this.form.formId }
  }

  /**
   * Compares the form with what it was before the last request, and notes the change that became visible.
   *
   * @param process that has sent the request.
   */
  async observe(process?: number): Promise<void> {
    const { organizationId, formId } = this.form
    const [before, after] = [this.#current, await collections.forms.findOne({ organizationId, _id: formId })]
    this.#current = after
    await this.#observePurges()
    if (before && after) expect(after.incarnation).toBe(before.incarnation)
    if (this.#isInsertedLate(before, after, process)) return
    if (before && after && before.eventNumber === after.eventNumber) {
      expect(stateOf(after)).toEqual(stateOf(before))
    } else if (after) {
      const last = this.expected.findLast(({ incarnation }) => incarnation === after.incarnation)
      expect(after.eventNumber).toBe((last?.number ?? 0) + 1)
      expect(before && stateOf(before)).not.toEqual(stateOf(after))
      const { id, number, event } = after.pendingEvents!.at(-1)!
      const { type } = JSON.parse(event)
      this.expected.push({ incarnation: after.incarnation, number, id, type })
    } else if (before) {
      this.#deleter = process
      const { incarnation, eventNumber } = before
      const number = eventNumber! + 1
      // Several notes may have this event, each with its own id.
      this.expected.push({ incarnation, number, id: expect.any(String), type: 'form.deleted' })
    }
  }

  /**
   * Whether a delayed attempt of a request has inserted the form after its delete, or still has it there. Until this attempt
   * or that of the delete removes it, others may find the form: such cases are skipped.
   */
  #isInsertedLate(
    before: FormDocument | undefined,
    after: FormDocument | undefined,
    process: number | undefined,
  ): boolean {
    const last = this.expected.findLast(({ incarnation }) => incarnation === after?.incarnation)
    if (!before && after && last && last.number >= after.eventNumber!) this.#lateInserter = process
    if (this.#lateInserter === undefined) return false
    fc.pre(process === this.#lateInserter || process === this.#deleter)
    if (!after) this.#lateInserter = undefined
    return true
  }

  /** A late insert undoes a delete that was killed before anybody could confirm it. */
  settle(): void {
    if (this.#lateInserter !== undefined) expect(this.expected.pop()?.type).toBe('form.deleted')
  }

  async #observePurges(): Promise<void> {
    const { organizationId, formId } = this.form
    const isPurged = { purgeTime: 0, isRejected: null }
    for await (const note of collections.deletions.find({ organizationId, formId, ...isPurged })) {
      const { incarnation, eventNumber: number = 0 } = note
      const expected = { incarnation, number, id: expect.any(String), type: 'form.purged' }
      if (!this.expected.some((each) => each.incarnation === incarnation && each.type === expected.type))
        this.expected.push(expected)
    }
  }
}

/** What changes with an event only. */
const stateOf = ({ version, draft, revisionNumber, liveNumber, liveRevisionId }: FormDocument) => ({
  version,
  draft,
  revisionNumber,
  liveNumber,
  liveRevisionId,
})

interface Running extends Planned {
  /** The request id, which is in the event. */
  tag: string
  /** Whether other operations may be attempts of the same request. */
  isRepeatable: boolean
  subject: Subject
  run: (on: FormsCollections) => Promise<unknown>
}

const running = (subjects: readonly Subject[], planned: Planned): Running => {
  const subject = subjects[planned.form]!
  const { form, ref, record, commandIds } = subject
  // All of a request, once and again, have the same tag.
  const { kind, request = -1 } = planned
  const method = methods.get(kind)
  const requestId = method && subject.requestIds[request]
  const tag = requestId ? `${method} ${requestId}` : randomUUID()
  const recorder = newRecorder(tag)
  const identified = newRecorder(tag, method && requestId ? { method, requestId, digest: '' } : undefined)
  const requested =
    (change: (recorder: ChangeRecorder, on: FormsCollections) => Promise<unknown>) =>
    (on: FormsCollections) =>
      withRequest(on, form.organizationId, identified, (own) => change(own, on))
  const publish = (on: FormsCollections) => {
    const commandId = commandIds[planned.command]!
    const command = { ref, commandId, snapshot, beforeStoring: undefined, recorder, cancelAfterMs: 0 }
    return publishForm(on, noQuota, command, retry)
  }
  const runs: Record<Kind, Running['run']> = {
    create: requested((own, on) => createForm(on, noQuota, { ...form, live: false }, own)),
    patch: requested((own, on) =>
      retry(ref, () => updateForm(on, noQuota, ref, (now) => edited(now, { name: randomUUID() }), own)),
    ),
    publish,
    unpublish: requested((own, on) => retry(ref, () => unpublishForm(on, ref, '', allow, own))),
    delete: requested((own, on) => deleteForm(on, ref, allow, own, days)),
    'delete for good': (on) => deleteForm(on, ref, allow, recorder),
    undelete: requested((own, on) =>
      undeleteForm(on, noQuota, { ref, check: allow, recorder: own }, retryBriefly),
    ),
    purge: requested((own, on) => retryBriefly(ref, () => purgeForm(on, ref, allow, own))),
    import: (on) => importForm(on, record, recorder),
    reply: (on) => retry(ref, () => recordReplies(on, { ...form, replyIds: [randomUUID()] })),
    // The second clearing deletes the notes.
    clear: (on) => clearDeletions(on, never, Date.now() + 20 * 60_000),
    collect: (on) => collectEvents(on, 10),
  }
  return { ...planned, tag, isRepeatable: requestId !== undefined, subject, run: runs[planned.kind] }
}

/** The kinds that may have a request id. */
const methods = new Map<Kind, ChangeMethod>([
  ['create', 'create'],
  ['patch', 'update'],
  ['unpublish', 'unpublish'],
  ['delete', 'delete'],
  ['undelete', 'undelete'],
  ['purge', 'purge'],
])

const readLog = async (organizationId: string): Promise<EventDocument[]> =>
  Array.fromAsync(collections.events.find({ organizationId }, { sort: { sequence: 1 } }))

const expectNoGaps = (log: EventDocument[]): void =>
  expect(log.map(({ sequence }) => sequence)).toEqual(log.map((_, index) => index + 1))

/** The log has the changes of each form that were visible, each once and in their order. */
const expectVisibleChanges = (log: EventDocument[], { form, expected }: Subject): void => {
  const own = log.filter(({ formId }) => formId === form.formId)
  const found = own.map(({ incarnation, number, event }) => {
    const { id, type } = JSON.parse(event)
    return { incarnation, number, id, type }
  })
  // A form that is deleted while another one with its id is created can be purged after that one has changed.
  for (const incarnation of new Set(expected.map((each) => each.incarnation))) {
    const ofIncarnation = (each: { incarnation: string }) => each.incarnation === incarnation
    expect(found.filter(ofIncarnation)).toEqual(expected.filter(ofIncarnation))
  }
  expect(found).toHaveLength(expected.length)
}

/** Replies change an ETag without an event. */
const withoutReplies = (etag: string) => etag.replace(/\.\d+"$/, '"')

/** The events of a form lead from ETag to ETag, at increasing times. */
const expectChain = (log: EventDocument[], { form, expected }: Subject): void => {
  const own = log.filter(({ formId }) => formId === form.formId)
  const isMixed = expected.some(({ type }) => type === 'form.undeleted' || type === 'form.purged')
  const chains = isMixed ? Map.groupBy(own, ({ incarnation }) => incarnation).values() : [own]
  for (const chain of chains) {
    let [etag, time] = ['', 0]
    for (const event of chain.map(toFormEvent)) {
      expect(withoutReplies(event.data.previousEtag)).toBe(withoutReplies(etag))
      expect(Date.parse(event.time)).toBeGreaterThan(time)
      etag = event.data.etag
      time = Date.parse(event.time)
    }
  }
}

type Ended = Running & Outcome

/** Whether an operation made a change, according to its result. Undefined if the result does not show it. */
const hasChanged = ({ kind, result, error, isRepeatable }: Ended): boolean | undefined => {
  if (error instanceof RequestReplay) return true
  if (!result || kind === 'publish') return undefined
  if (kind === 'import') return result.value === 'imported'
  // Another attempt of a request may find what this one has not found.
  return Boolean(result.value) || (isRepeatable ? undefined : false)
}

/** Each acknowledged change has one event with its own context, and what changed nothing has none. */
const expectEventPerChange = (log: FormEvent[], ended: readonly Ended[]): void => {
  for (const operation of ended) {
    if (!changes.some((kind) => kind === operation.kind)) continue
    const own = log.filter(({ data }) => data.httpRequestId === operation.tag)
    const changed = hasChanged(operation)
    expect(own.length).toBeLessThanOrEqual(1)
    if (changed !== undefined) expect(own.length).toBe(changed ? 1 : 0)
    if (own[0]) expect(own[0].subject.endsWith(operation.subject.form.formId)).toBe(true)
  }
}

/** Each visible revision that no import has stored has one event, and no other revision has any. */
const expectEventPerRevision = async (log: EventDocument[], { form, record }: Subject): Promise<void> => {
  const { organizationId, formId } = form
  const current = await collections.forms.findOne({ organizationId, _id: formId })
  if (!current) return
  const { incarnation, revisionNumber } = current
  const imported = new Set(record.revisions.map(({ revisionId }) => revisionId))
  const all = { organizationId, formId, incarnation }
  for await (const { revisionId, number, context, isCancelled = false } of collections.revisions.find(all)) {
    if (imported.has(revisionId)) continue
    const own = log.filter(({ event }) => JSON.parse(event).id === revisionId)
    expect(own).toHaveLength(number <= revisionNumber && !isCancelled ? 1 : 0)
    if (own[0]) expect(JSON.parse(own[0].event).data).toMatchObject({ number, ...JSON.parse(context!) })
  }
}

/** The live revision exists and is not cancelled. */
const expectLive = async ({ form: { organizationId, formId } }: Subject): Promise<void> => {
  const current = await collections.forms.findOne({ organizationId, _id: formId })
  if (!current || current.liveRevisionId === null) return
  const { incarnation, liveNumber: number, liveRevisionId: revisionId } = current
  const live = { organizationId, formId, incarnation, number, revisionId, isCancelled: null }
  expect(await collections.revisions.has(live)).toBe(true)
}

/** What a publish has confirmed is visible, unless the form was deleted since. */
const expectPublished = async (ended: readonly Ended[]): Promise<void> => {
  for (const { kind, result, subject, command } of ended) {
    if (kind !== 'publish' || !result?.value || result.value === 'elsewhere') continue
    const { organizationId, formId } = subject.form
    const current = await collections.forms.findOne({ organizationId, _id: formId })
    if (!current || subject.expected.some(({ type }) => type === 'form.deleted')) continue
    const commandId = subject.commandIds[command]!
    const found = await collections.revisions.findOne({ organizationId, formId, commandId })
    expect(found?.number).toBeLessThanOrEqual(current.revisionNumber)
    expect(current.liveNumber).toBeGreaterThanOrEqual(found!.number)
  }
}

/** Nothing is left to collect, and the log is known to be behind the stream. */
const expectCollected = async (organizationId: string, { length }: EventDocument[]): Promise<void> => {
  expect(await collections.forms.count({ organizationId, pendingTime: { $gt: 0 } })).toBe(0)
  for await (const note of collections.deletions.find({ organizationId, collectTime: { $gt: 0 } })) {
    const { formId, incarnation } = note
    expect(await collections.forms.has({ organizationId, _id: formId, incarnation })).toBe(true)
  }
  const log = await collections.eventLogs.findOne({ _id: organizationId })
  expect(log?.recordedSequence ?? 0).toBe(length)
  expect(log?.isBehind ?? false).toBe(length > 0)
}

const collectAll = async () => {
  while ((await collectEvents(collections, 100, Number.MAX_SAFE_INTEGER)) > 0);
}

const prepare = async (subject: Subject, given: Case['given'][number]): Promise<void> => {
  if (given === 'nothing') return
  await importForm(collections, subject.record, newRecorder())
  await subject.observe()
  if (given === 'form') return
  await deleteForm(collections, subject.ref, allow, newRecorder(), days)
  await subject.observe()
}

const check = async ({ given, processes, turns }: Case): Promise<void> => {
  const organizationId = randomUUID()
  const subjects = given.map(() => new Subject(organizationId))
  for (const [index, subject] of subjects.entries()) await prepare(subject, given[index]!)
  const all = processes.map(({ operations }) => operations.map((planned) => running(subjects, planned)))
  const plans = all.map((operations, index) => ({
    operations: operations.map(({ run }) => run),
    failure: processes[index]!.failure,
  }))

  const outcomes = await interleave(collections, plans, turns, async (process, operation) => {
    for (const subject of subjects) await subject.observe(process)
    if (all[process]![operation]!.kind === 'collect') expectNoGaps(await readLog(organizationId))
  })
  for (const subject of subjects) subject.settle()
  await collectAll()

  const ended = all.flatMap((operations, process) =>
    operations.map((operation, index) => ({ ...operation, ...outcomes[process]![index]! })),
  )
  for (const { error } of ended) {
    if (error && !(error instanceof ApiError || error instanceof RequestReplay)) throw error
  }
  const log = await readLog(organizationId)
  const events = log.map(toFormEvent)
  expectNoGaps(log)
  for (const subject of subjects) {
    expectVisibleChanges(log, subject)
    expectChain(log, subject)
    await expectEventPerRevision(log, subject)
    await expectLive(subject)
  }
  expectEventPerChange(events, ended)
  await expectPublished(ended)
  await expectCollected(organizationId, log)
  // Some engines scan whole collections.
  for (const collection of Object.values(collections)) await collection.deleteMany({ organizationId })
}

describe('any changes of forms and any collectors, with one request at a time in any order', () => {
  it(
    'leave one event for each visible change, numbered without gaps and in the order of each form, also when killed',
    async () => {
      await fc.assert(fc.asyncProperty(cases, check), { numRuns })
    },
    120_000 + 2_000 * numRuns,
  )
})
