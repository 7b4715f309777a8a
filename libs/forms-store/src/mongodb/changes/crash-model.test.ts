import { randomUUID } from 'node:crypto'
import { ApiError } from '@fms/aip'
import type { FormRecord } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { edited, newForm, newRevision, snapshot, time } from '../../contract/given.ts'
import { operatorContext } from '../../events/recorded-event.ts'
import type { StoredForm } from '../../forms-store.ts'
import { noQuota } from '../../quota.ts'
import { parseDraft } from '../../stored-draft.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { purgeForm } from '../deleted-forms/purge-form.ts'
import { undeleteForm } from '../deleted-forms/undelete-form.ts'
import { undeletesInProgress } from '../deleted-forms/undeletes-in-progress.ts'
import type { FormDocument, FormsCollections } from '../documents.ts'
import { collectEvents } from '../events/collect-events.ts'
import { readRecord } from '../records/export-forms.ts'
import { importForm } from '../records/import-form.ts'
import { pruneRevisions } from '../revisions/prune-revisions.ts'
import { allow, retry, retryBriefly, startFormsStore } from '../testing.ts'
import { clearDeletions } from './clear-deletions.ts'
import { createForm } from './create-form.ts'
import { deleteForm } from './delete-form.ts'
import { publishForm } from './publish-form.ts'
import { recordReplies } from './record-replies.ts'
import { commandKey } from './reservations.ts'
import { type Failure, interleave, type Outcome, type Turn } from './testing/interleave.ts'
import { unpublishForm } from './unpublish-form.ts'
import { updateForm } from './update-form.ts'

const { collections } = await startFormsStore({ quick: true })

/** Cases of one run. Thousands of them, on jongodb, take a few minutes. */
const numRuns = Number(process.env.FC_RUNS ?? 50)
const never = new AbortController().signal
// The checks at the end of a case do not wait for undeletes that were killed.
undeletesInProgress(collections, 0)
const recorder = { context: operatorContext, onRecorded: () => {} }
/** How long a deleted form can be restored. */
const days = 30

const kinds = [
  'create',
  'patch',
  'publish',
  'publish other',
  'unpublish',
  'reply',
  'delete',
  'delete for good',
  'undelete',
  'purge',
  'import',
  'clear',
  'collect',
  'prune',
] as const
type Kind = (typeof kinds)[number]

interface Planned {
  kind: Kind
  /** Which of the commands or replies: two operations may have the same. */
  id: number
}

interface Case {
  /** What is there before: no form, an imported form, one that can be restored, or one that is not cleared yet. */
  given: 'nothing' | 'form' | 'deleted' | 'gone'
  processes: { operations: Planned[]; failure: Failure | undefined }[]
  turns: Turn[]
}

const operations = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom(...kinds) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('publish', 'unpublish', 'delete', 'undelete', 'import', 'create' as const),
      },
    ),
    id: fc.nat(2),
  }),
  { minLength: 1, maxLength: 3, size: 'max' },
)
const failures: fc.Arbitrary<Failure> = fc.record({
  after: fc.nat(20),
  kind: fc.constantFrom('kill', 'lose response'),
})
const cases: fc.Arbitrary<Case> = fc.record({
  given: fc.constantFrom('form', 'form', 'deleted', 'gone', 'nothing'),
  processes: fc.array(fc.record({ operations, failure: fc.option(failures, { nil: undefined, freq: 2 }) }), {
    minLength: 2,
    maxLength: 3,
    size: 'max',
  }),
  turns: fc.array(fc.record({ process: fc.nat(2), requests: fc.integer({ min: 1, max: 20 }) }), {
    maxLength: 12,
    size: 'max',
  }),
})

/** The form of one case, another form of its organization, and a record that restores the form. */
class World {
  readonly form: StoredForm = newForm({ live: true, replyCount: 34 })
  readonly other: StoredForm = newForm({ organizationId: this.form.organizationId })
  readonly replyIds = Array.from({ length: 3 }, () => randomUUID())
  readonly commandIds = Array.from({ length: 3 }, () => randomUUID())
  readonly record: FormRecord
  /** Whether the form was live, for each snapshot that was taken, by the id of its revision. */
  readonly snapshots = new Map<string, boolean>()

  constructor() {
    // Repeats of two commands find revisions in the record, unless the first one is pruned, which is old.
    const commandIds = [this.commandIds[2]!, this.commandIds[0]!, randomUUID()]
    const revisions = commandIds.map((commandId, index) =>
      newRevision(this.form, { commandId, number: index + 1, ...(index === 0 && { createTime: time(0) }) }),
    )
    this.record = toFormRecord(this.form, {
      revisionNumber: 3,
      liveNumber: 3,
      liveRevisionId: revisions[2]!.revisionId,
      revisions,
      replyIds: Array.from({ length: 34 }, () => randomUUID()),
    })
  }

  async prepare(given: Case['given']): Promise<void> {
    await createForm(collections, noQuota, this.other, recorder)
    if (given !== 'nothing') await importForm(collections, this.record, recorder)
    const ref = refOf(this.form)
    if (given === 'deleted') await deleteForm(collections, ref, allow, recorder, days)
    if (given === 'gone') await deleteForm(collections, ref, allow, recorder)
  }
}

const refOf = ({ organizationId, formId }: StoredForm) => ({ organizationId, formRef: formId })

/** An operation of a case, with what its success promises of a form that was there throughout. */
interface Running {
  kind: Kind
  run: (on: FormsCollections) => Promise<unknown>
  /** @param value what the operation returned. */
  promises: (value: unknown, record: FormRecord) => void
}

const running = ({ form, other, record, ...world }: World, { kind, id }: Planned): Running => {
  const ref = refOf(form)
  const [commandId, replyId] = [world.commandIds[id]!, world.replyIds[id]!]
  const tag = randomUUID()
  const addTag = (current: StoredForm) => edited(current, { context: [...parseDraft(current).context, tag] })
  const taken: string[] = []
  const takeSnapshot = (current: StoredForm) => {
    const it = snapshot(current)
    taken.push(it.revisionId)
    world.snapshots.set(it.revisionId, current.live)
    return it
  }
  const publish = (of: StoredForm) => (on: FormsCollections) => {
    const command = { ref: refOf(of), commandId, snapshot: takeSnapshot, beforeStoring: undefined, recorder }
    return publishForm(on, noQuota, { ...command, cancelAfterMs: 0 }, retry)
  }
  const nothing = () => {}
  const operations: Record<Kind, Omit<Running, 'kind'>> = {
    create: {
      run: (on) => createForm(on, noQuota, { ...form, live: false, replyCount: 0 }, recorder),
      promises: nothing,
    },
    patch: {
      run: (on) => retry(ref, () => updateForm(on, noQuota, ref, addTag, recorder)),
      promises: (value, { draft }) => {
        expect(value).toBeDefined()
        expect(draft.context).toContain(tag)
      },
    },
    publish: {
      run: publish(form),
      promises: (value, { revisions, live }) => {
        expect(value).toBeDefined()
        if (value === 'elsewhere') return
        const made = revisions.find((revision) => revision.commandId === commandId)
        if (!made && id === 2) return
        expect(made).toBeDefined()
        if (live) expect(live.number).toBeGreaterThanOrEqual(made!.number)
        if (!taken.includes(made!.revisionId)) return
        expect(made!.form.context).toEqual(parseDraft(value as StoredForm).context)
      },
    },
    'publish other': { run: publish(other), promises: nothing },
    unpublish: {
      run: (on) => retry(ref, () => unpublishForm(on, ref, '', allow, recorder)),
      promises: nothing,
    },
    reply: {
      run: (on) => retry(ref, () => recordReplies(on, { ...form, replyIds: [replyId] })),
      promises: (_, { replyIds }) => expect(replyIds).toContain(replyId),
    },
    delete: { run: (on) => deleteForm(on, ref, allow, recorder, days), promises: nothing },
    'delete for good': { run: (on) => deleteForm(on, ref, allow, recorder), promises: nothing },
    undelete: {
      run: (on) => undeleteForm(on, noQuota, { ref, check: allow, recorder }, retryBriefly),
      promises: nothing,
    },
    purge: {
      run: (on) => retryBriefly(ref, () => purgeForm(on, ref, allow, recorder)),
      promises: nothing,
    },
    import: { run: (on) => importForm(on, record, recorder), promises: nothing },
    clear: { run: (on) => clearDeletions(on, never), promises: nothing },
    collect: { run: (on) => collectEvents(on, 10), promises: nothing },
    prune: {
      run: (on) => pruneRevisions(on, form, { keep: 1, before: time(1) }),
      promises: (_, { revisions }) =>
        expect(revisions.map(({ createTime }) => createTime)).not.toContain(time(0).toISOString()),
    },
  }
  return { kind, ...operations[kind] }
}

interface Ended extends Outcome {
  operation: Running
}

/** The form's document before and after each request, and the operation that sent the request. */
interface History {
  forms: (FormDocument | undefined)[]
  senders: Running[]
}

const incarnationAt = ({ forms }: History, step: number) => forms[step]?.incarnation

/** The operation whose request made this incarnation visible; undefined for the form that was given. */
const creatorOf = (history: History, incarnation: string): Running | undefined =>
  history.senders.find(
    (_, step) =>
      incarnationAt(history, step) !== incarnation && incarnationAt(history, step + 1) === incarnation,
  )

/** Whether one of the operation's own requests changed the existence of the form in this way. */
const hasStep = (
  history: History,
  operation: Running,
  isStep: (before?: string, after?: string) => boolean,
) =>
  history.senders.some(
    (sender, step) =>
      sender === operation && isStep(incarnationAt(history, step), incarnationAt(history, step + 1)),
  )

/** An incarnation that was deleted is visible again only by an undelete. */
const expectSingleLives = ({ forms, senders }: History): void => {
  const seen = new Set<string>()
  for (const [step, form] of forms.entries()) {
    const { incarnation } = form ?? {}
    if (incarnation === undefined || forms[step - 1]?.incarnation === incarnation) continue
    if (seen.has(incarnation)) expect(senders[step - 1]?.kind).toBe('undelete')
    seen.add(incarnation)
  }
}

/** A form that was taken down becomes live again only with a snapshot that is later. */
const expectTakenDown = ({ forms }: History, { snapshots }: World): void => {
  for (const [step, after] of forms.entries()) {
    const before = forms[step - 1]
    if (!before || before.incarnation !== after?.incarnation || before.liveRevisionId !== null) continue
    if (after.liveRevisionId !== null) expect(snapshots.get(after.liveRevisionId)).toBe(false)
  }
}

/** What results say about the existence of the form. */
const expectEffects = (ended: Ended[], history: History): void => {
  for (const { operation, result, first, last } of ended) {
    const { kind } = operation
    const isCreated = kind === 'import' ? result?.value === 'imported' : isCreate(kind) && result?.value
    if (isCreated) expect(hasStep(history, operation, (before, after) => !before && !!after)).toBe(true)
    if (!kind.startsWith('delete') || !result) continue
    if (result.value) expect(hasStep(history, operation, (before, after) => !!before && !after)).toBe(true)
    else expect(history.forms.slice(first, last + 2)).toContain(undefined)
  }
}

const isCreate = (kind: Kind) => kind === 'create' || kind === 'undelete'

const expectConsistent = (record: FormRecord): void => {
  const { revisions, live, replyCount, replyIds } = record
  const numbers = revisions.map(({ number }) => number)
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
  expect(new Set(revisions.map(({ commandId }) => commandId)).size).toBe(revisions.length)
  if (live) expect(revisions).toContainEqual(expect.objectContaining({ ...live }))
  expect(replyCount).toBe(replyIds.length)
}

/** Whether a create or an import has made this incarnation visible after a step. */
const isCreatedAfter = ({ forms, senders }: History, incarnation: string, step: number): boolean => {
  const created = forms.findIndex((form) => form?.incarnation === incarnation)
  return created > step && senders[created - 1]?.kind !== 'undelete'
}

/** Each operation that succeeded on the form in its last incarnation has its effect, also after an undelete. */
const expectKept = (ended: Ended[], history: History, incarnation: string, record: FormRecord): void => {
  for (const { operation, result, first } of ended) {
    const since = history.forms.slice(first)
    if (!result || since.length === 0) continue
    const isSame = since.every((form) => form?.incarnation === incarnation)
    const isSameOrDeleted =
      since.every((form) => !form || form.incarnation === incarnation) &&
      !isCreatedAfter(history, incarnation, first)
    const hasChanged = Boolean(result.value) && operation.kind !== 'prune'
    if (isSame || (isSameOrDeleted && hasChanged)) operation.promises(result.value, record)
  }
}

/**
 * An import may lose a command to a publish of another form while it is in progress: see
 * docs/decisions/0028-incarnations-of-a-form.md.
 */
const mayLoseCommands = (kinds: Set<Kind>): boolean => kinds.has('import') && kinds.has('publish other')

/** The form holds its public id and the commands of these revisions. */
const expectReserved = async (
  { organizationId, formId, publicId }: FormRecord,
  revisions: FormRecord['revisions'],
  incarnation: string,
): Promise<void> => {
  const held = { formId, incarnations: expect.arrayContaining([incarnation]) }
  expect(await collections.publicIds.findOne({ _id: publicId })).toMatchObject(held)
  for (const { commandId } of revisions) {
    const _id = commandKey(organizationId, commandId)
    expect(await collections.commands.findOne({ _id })).toMatchObject(held)
  }
}

/** Everything of the form's id belongs to its incarnation, and only notes about that one are left. */
const expectCleared = async (world: World, incarnation: string | undefined, created: boolean) => {
  const { organizationId, formId } = world.form
  const all = { organizationId, formId }
  for (const collection of [collections.revisions, collections.replies, collections.deletions]) {
    const found = await Array.fromAsync<{ incarnation: string }>(collection.find(all))
    expect(found.filter((each) => each.incarnation !== incarnation)).toEqual([])
  }
  // A create that was killed leaves its reservation of the public id.
  const reserved = [collections.commands, ...(created ? [] : [collections.publicIds])]
  for (const collection of reserved) {
    const found = await Array.fromAsync(collection.find(all))
    expect(found.flatMap(({ incarnations }) => incarnations).filter((each) => each !== incarnation)).toEqual(
      [],
    )
  }
}

const collectAll = async () => {
  while ((await collectEvents(collections, 100, Number.MAX_SAFE_INTEGER)) > 0);
}

/** Purges the forms that can be restored, too. */
const clearAll = async () => {
  for (let round = 0; round < 3; round++) {
    // A note goes only once its events are in the log.
    await collectAll()
    await clearDeletions(collections, never, Number.MAX_SAFE_INTEGER)
  }
}

/** Restores the form if it can be restored, so that what it has shows. */
const restore = async (world: World, history: History): Promise<void> => {
  const { run, ...operation } = running(world, { kind: 'undelete', id: 0 })
  await collectAll()
  await run(collections).catch((error) => expect(error).toBeInstanceOf(ApiError))
  history.senders.push({ run, ...operation })
}

const check = async (one: Case): Promise<void> => {
  const world = new World()
  await world.prepare(one.given)
  await checkIn(world, one)
  // Some engines scan whole collections.
  const { organizationId } = world.form
  for (const collection of Object.values(collections)) await collection.deleteMany({ organizationId })
}

const checkIn = async (world: World, { processes, turns }: Case): Promise<void> => {
  const { organizationId, formId } = world.form
  const read = () => collections.forms.findOne({ organizationId, _id: formId })
  const history: History = { forms: [await read()], senders: [] }
  const all = processes.map(({ operations }) => operations.map((planned) => running(world, planned)))
  const plans = all.map((operations, index) => ({
    operations: operations.map(({ run }) => run),
    failure: processes[index]!.failure,
  }))
  const kinds = new Set(all.flat().map(({ kind }) => kind))

  const outcomes = await interleave(collections, plans, turns, async (process, operation) => {
    history.senders.push(all[process]![operation]!)
    history.forms.push(await read())
  })

  const ended = all.flatMap((operations, process) =>
    operations.map((operation, index) => ({ operation, ...outcomes[process]![index]! })),
  )
  for (const { error } of ended) if (error && !(error instanceof ApiError)) throw error
  await restore(world, history)
  history.forms.push(await read())
  expectSingleLives(history)
  expectEffects(ended, history)
  expectTakenDown(history, world)
  const record = await readRecord(collections, world.form)
  const incarnation = history.forms.at(-1)?.incarnation
  expect(record === undefined).toBe(incarnation === undefined)
  if (record && incarnation) {
    expectConsistent(record)
    expectKept(ended, history, incarnation, record)
    await expectReserved(record, mayLoseCommands(kinds) ? [] : record.revisions, incarnation)
    const creator = creatorOf(history, incarnation)
    if (creator?.kind !== 'create') expectContains(record, kinds.has('prune') ? pruned(world) : world.record)
  }
  await clearAll()
  await expectCleared(world, incarnation, kinds.has('create'))
  expect(await readRecord(collections, world.form)).toEqual(record)
  await expectOneFormPerCommand(world, kinds)
}

/** The record without the revision that may be pruned. */
const pruned = ({ record }: World): FormRecord => ({ ...record, revisions: record.revisions.slice(1) })

const expectContains = (record: FormRecord, { revisions, replyIds }: FormRecord): void => {
  expect(record.revisions).toEqual(expect.arrayContaining(revisions))
  expect(record.replyIds).toEqual(expect.arrayContaining(replyIds))
}

const expectOneFormPerCommand = async ({ form, other, commandIds }: World, kinds: Set<Kind>) => {
  if (mayLoseCommands(kinds)) return
  const records = await Promise.all([form, other].map((each) => readRecord(collections, each)))
  const commands = records.flatMap((record) => record?.revisions.map(({ commandId }) => commandId) ?? [])
  for (const commandId of commandIds) {
    expect(commands.filter((each) => each === commandId).length).toBeLessThanOrEqual(1)
  }
}

describe('any operations on one form, with one request at a time in any order', () => {
  it(
    'lose nothing that they confirmed and show nothing of an earlier form, also when killed',
    async () => {
      await fc.assert(fc.asyncProperty(cases, check), { numRuns })
    },
    120_000 + 2_000 * numRuns,
  )
})
