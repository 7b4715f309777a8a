import type { Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota } from '../quota.ts'
import type { FormsCollections, UsageDocument } from './documents.ts'
import {
  earlierKeyOf,
  type KeyedNote,
  type NotedForm,
  newNote,
  noteMemory,
  notStored,
  sumOf,
} from './usage-notes.ts'

/** Before a rejection, usage is recomputed from the documents unless that was tried more recently. */
const recountMs = 60_000
/** Usage is recomputed at this age, which corrects any drift. */
const maxAgeMs = 24 * 60 * 60 * 1000
/** Time until the next attempt after a recount without effect. */
const retryMs = 10 * 60_000
/** Changes after which a writer removes the notes that others have left, so that the document stays small. */
const changesPerCheck = 1_000

/** What a change adds to the usage. */
export interface Growth extends Usage {
  /** The number of revisions in `bytes`, which then has nothing else; 0 by default. Negative for deleted ones. */
  revisions?: number
}

/** The usage of an organization with the part of its revisions. */
interface CountedUsage extends Required<Growth> {
  revisionBytes: number
}

const keyOf = (organizationId: string) => ({ organizationId, _id: organizationId })

const grows = ({ forms, bytes }: Usage) => forms > 0 || bytes > 0

/** The amounts by which the fields of the usage document change. */
const amountsOf = ({ forms, bytes, revisions = 0 }: Growth): Record<string, number> => ({
  forms,
  bytes,
  ...(revisions !== 0 && { revisions, revisionBytes: bytes }),
})

/**
 * Counts a change of an organization's usage: docs/decisions/0029-totals-without-counting.md.
 *
 * - The number of forms changes before the write, together with a note of the form. If the write stores nothing, this
 *   takes both back. After a crash, readers of the note check whether the form exists.
 * - Bytes alone: growth is counted before the write and subtracted again when nothing was stored, a decrease is counted
 *   after the write. A crash leaves bytes too high rather than too low.
 *
 * @param write resolves to a truthy value if it stored something.
 * @param form required where the number of forms changes.
 * @throws {ApiError} QUOTA_EXCEEDED, before the write.
 */
export const countWrite = async <T>(
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Growth,
  write: () => Promise<T>,
  form?: NotedForm,
): Promise<T> => {
  if (form) return countForm(collections, quota, organizationId, newNote(form, growth), write)
  if (grows(growth)) await reserveGrowth(collections, quota, organizationId, growth)
  const stored = await write()
  if (stored ? !grows(growth) : grows(growth)) {
    const { bytes, revisions = 0 } = growth
    const sign = stored ? 1 : -1
    await addUsage(collections, organizationId, {
      forms: 0,
      bytes: sign * bytes,
      revisions: sign * revisions,
    })
  }
  return stored
}

const countForm = async <T>(
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  note: KeyedNote,
  write: () => Promise<T>,
): Promise<T> => {
  const { forms, bytes } = note
  await reserveGrowth(collections, quota, organizationId, { forms, bytes }, note)
  const stored = await write()
  if (stored) noteMemory(collections).finish(organizationId, [note.key])
  else await withdrawNote(collections, organizationId, note)
  return stored
}

/**
 * Removes a note and takes its amounts back, unless another change of the same form shares it. If the note is gone, a later
 * change of the form may have removed it without its amounts: then the next write recomputes the usage.
 */
const withdrawNote = async (
  collections: FormsCollections,
  organizationId: string,
  { key, forms, bytes }: KeyedNote,
): Promise<void> => {
  const users = `notes.${key}.users`
  const isLast = { [users]: 1 }
  const isShared = { [users]: { $gt: 1 } }
  for (;;) {
    const back = { forms: -forms, bytes: -bytes }
    if (await updateUsage(collections, organizationId, isLast, back, { unset: [key] })) return
    if (await updateUsage(collections, organizationId, isShared, { [users]: -1 }, { changed: key })) return
    const hasUsers = { ...keyOf(organizationId), [users]: { $gt: 0 } }
    if (await collections.usage.has(hasUsers)) continue
    await updateUsage(collections, organizationId, {}, {}, { fields: { dueTime: 0 } })
    return
  }
}

/** Adds bytes to the usage without a check of the quota. Does nothing while the organization has no usage document. */
export const addUsage = async (
  collections: FormsCollections,
  organizationId: string,
  growth: Growth,
): Promise<void> => {
  if (growth.forms !== 0 || growth.bytes !== 0)
    await updateUsage(collections, organizationId, {}, amountsOf(growth))
}

/** Changes of notes by their keys, and of fields. */
interface NoteChanges {
  /** A new note. */
  note?: KeyedNote | undefined
  /** A note that the update changes. */
  changed?: string
  unset?: readonly string[]
  fields?: Readonly<Record<string, unknown>>
}

/**
 * Updates a usage document, and removes the notes that this process has finished.
 *
 * @returns whether the condition holds.
 */
const updateUsage = async (
  collections: FormsCollections,
  organizationId: string,
  condition: Readonly<Record<string, unknown>>,
  amounts: Readonly<Record<string, number>>,
  { note, changed, unset = [], fields }: NoteChanges = {},
): Promise<boolean> => {
  const memory = noteMemory(collections)
  const finished = memory.takeFinished(organizationId)
  const kept = finished.filter((each) => each === changed)
  const { key, ...value } = note ?? { key: undefined }
  const removed = [...unset, ...finished].filter((each) => each !== key && !kept.includes(each))
  const isChanged = await collections.usage.increment(
    { ...keyOf(organizationId), ...condition },
    { ...amounts, changes: 1 },
    {
      set: { ...fields, ...(key && { [`notes.${key}`]: value }) },
      unset: removed.map((each) => `notes.${each}`),
    },
  )
  memory.finish(organizationId, isChanged ? kept : finished)
  return isChanged
}

/** The usage of an organization; computed from the documents the first time. */
export const readUsage = async (collections: FormsCollections, organizationId: string): Promise<Usage> => {
  const found = await collections.usage.findOne(keyOf(organizationId))
  const { forms, bytes } = found
    ? await usageNow(collections, found)
    : await createUsage(collections, organizationId)
  return { forms, bytes }
}

/**
 * The number of an organization's forms: reads its usage document, and the forms in the notes of changes in flight.
 * Counts forms only while there is no usage document.
 */
export const countForms = async (collections: FormsCollections, organizationId: string): Promise<number> => {
  const found = await collections.usage.findOne(keyOf(organizationId))
  if (!found) return collections.forms.count({ organizationId })
  return (await usageNow(collections, found)).forms
}

/**
 * Checks the quota. Recomputes usage before a rejection.
 *
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
export const checkQuota = async (
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Usage,
): Promise<void> => {
  const counted = await readUsage(collections, organizationId)
  try {
    assertWithinQuota(organizationId, quota, counted, growth)
  } catch {
    await refreshAndCheck(collections, quota, organizationId, growth)
  }
}

/**
 * Adds the growth to the usage, with a note where the number of forms changes. Where the document has the note of
 * another change of the same form and kind, both share that note and its amounts.
 *
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
const reserveGrowth = async (
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Growth,
  note?: KeyedNote,
): Promise<void> => {
  const isWithinQuota = Object.fromEntries(
    (['forms', 'bytes'] as const)
      .filter((name) => quota[name] > 0 && growth[name] > 0)
      .map((name) => [name, { $lte: quota[name] - growth[name] }]),
  )
  const isFirst = note && { [`notes.${note.key}.id`]: null }
  const amounts = { ...amountsOf(growth), ...(note && { checkIn: -1 }) }
  const unset = note && (note.forms < 0 || note.undeleteCount) ? [earlierKeyOf(note)] : []
  for (;;) {
    const needsNoCheck = { dueTime: { $gt: Date.now() }, checkIn: { $gt: 0 } }
    const condition = { ...isWithinQuota, ...needsNoCheck, ...isFirst }
    if (await updateUsage(collections, organizationId, condition, amounts, { note, unset })) return
    // Not counted yet, due for a check, or over the quota. If usage decreased meanwhile, the next attempt succeeds.
    const current = await refreshAndCheck(collections, quota, organizationId, growth)
    if (note && current?.notes?.[note.key] && (await joinNote(collections, organizationId, note))) return
  }
}

/** Joins the users of a note. @returns whether the document still has it. */
const joinNote = (
  collections: FormsCollections,
  organizationId: string,
  { key, id }: KeyedNote,
): Promise<boolean> => {
  const users = `notes.${key}.users`
  const condition = { [users]: { $gt: 0 } }
  // With a new id, the time until the note is stale begins again.
  return updateUsage(
    collections,
    organizationId,
    condition,
    { [users]: 1 },
    { changed: key, fields: { [`notes.${key}.id`]: id } },
  )
}

/**
 * Brings the usage document up to date, then checks the quota: creates the document, removes its stale notes, and
 * recomputes the usage where that is due or the quota would reject the growth.
 *
 * @throws {ApiError} QUOTA_EXCEEDED.
 */
const refreshAndCheck = async (
  collections: FormsCollections,
  quota: Quota,
  organizationId: string,
  growth: Usage,
): Promise<UsageDocument | undefined> => {
  const found = await collections.usage.findOne(keyOf(organizationId))
  if (!found) {
    const counted = await createUsage(collections, organizationId)
    assertWithinQuota(organizationId, quota, counted, growth)
    return undefined
  }
  const current = await removeStaleNotes(collections, found)
  try {
    assertWithinQuota(organizationId, quota, current, growth)
    if (current.dueTime > Date.now()) return current
  } catch (error) {
    if (current.countTime > Date.now() - recountMs) throw error
  }
  const recounted = await recount(collections, current)
  assertWithinQuota(organizationId, quota, recounted, growth)
  return recounted
}

/**
 * The usage as the documents are now, whatever is in flight. Removes stale notes only, so that most reads write nothing.
 */
const usageNow = async (collections: FormsCollections, found: UsageDocument): Promise<UsageDocument> => {
  // Where the engine accepts no writes, such as on a full disk, the notes are counted as they are.
  const current = await removeStaleNotes(collections, found).catch(() => found)
  const notes = noteMemory(collections).unfinished(current)
  const { forms, bytes } = sumOf(await notStored(collections, current.organizationId, notes))
  return { ...current, forms: current.forms - forms, bytes: current.bytes - bytes }
}

/**
 * Removes the stale notes, and takes back the amounts of those whose change was not stored. The update names each note
 * by its id, so that each is taken back once.
 */
const removeStaleNotes = async (
  collections: FormsCollections,
  found: UsageDocument,
): Promise<UsageDocument> => {
  const { organizationId } = found
  const memory = noteMemory(collections)
  const stale = memory.stale(organizationId, memory.unfinished(found))
  if (stale.length === 0 && found.checkIn > 0) return found
  const lost = sumOf(await notStored(collections, organizationId, stale))
  await updateUsage(
    collections,
    organizationId,
    Object.fromEntries(stale.map(({ key, id }) => [`notes.${key}.id`, id])),
    { forms: 0 - lost.forms, bytes: 0 - lost.bytes },
    { unset: stale.map(({ key }) => key), fields: { checkIn: changesPerCheck } },
  )
  return (await collections.usage.findOne(keyOf(organizationId))) ?? found
}

/**
 * Creates the usage document. Every process creates it before it stores a form, so the count cannot change meanwhile.
 */
const createUsage = async (collections: FormsCollections, organizationId: string): Promise<Usage> => {
  const { usage } = collections
  const counted = await countDocuments(collections, organizationId)
  if (await usage.insert({ ...keyOf(organizationId), ...counted, ...newCounts() })) return counted
  return (await usage.findOne(keyOf(organizationId))) ?? counted
}

const newCounts = () => {
  const now = Date.now()
  return { countTime: now, dueTime: now + maxAgeMs, changes: 0, checkIn: changesPerCheck }
}

/**
 * Computes the usage from the documents, unless it was computed within {@link recountMs}. The result takes effect only
 * if nothing was in flight and nothing has changed meanwhile, so that a recount never causes drift. Indexes:
 * forms_by_bytes, deletions_by_bytes and revisions_by_bytes.
 */
const recount = async (collections: FormsCollections, found: UsageDocument): Promise<UsageDocument> => {
  const { usage } = collections
  const { organizationId, countTime, changes } = found
  const key = keyOf(organizationId)
  const now = Date.now()
  const isClaimed = await usage.set({ ...key, countTime }, { countTime: now, dueTime: now + retryMs })
  if (isClaimed && countTime <= now - recountMs && noteMemory(collections).unfinished(found).length === 0) {
    const counted = await countDocuments(collections, organizationId)
    const amounts = {
      forms: counted.forms - found.forms,
      bytes: counted.bytes - found.bytes,
      revisions: counted.revisions - (found.revisions ?? 0),
      revisionBytes: counted.revisionBytes - (found.revisionBytes ?? 0),
    }
    await updateUsage(collections, organizationId, { changes }, amounts, {
      fields: { dueTime: now + maxAgeMs },
    })
  }
  return (await usage.findOne(key)) ?? found
}

/** Attempts to count the revisions of an organization that keeps changing. Then its next recount counts them. */
const maxCounts = 5

/**
 * Computes what a usage document of an earlier schema version lacks, or the whole document.
 *
 * @returns whether it has changed the document.
 */
export const migrateUsage = async (
  collections: FormsCollections,
  organizationId: string,
): Promise<boolean> => {
  const { usage } = collections
  const key = keyOf(organizationId)
  for (let count = 0; count < maxCounts; count++) {
    const found = await usage.findOne(key)
    if (found?.revisions !== undefined) return false
    const counted = await countDocuments(collections, organizationId)
    if (!found) return usage.insert({ ...key, ...counted, ...newCounts() })
    const { revisions, revisionBytes } = counted
    const lacking =
      found.changes === undefined ? { ...counted, ...newCounts() } : { revisions, revisionBytes }
    if (await usage.set({ ...key, changes: found.changes ?? null }, lacking)) return true
  }
  return usage.set(key, { dueTime: 0 })
}

/** Notes have the size of a draft while its form is deleted and not cleared. */
const countDocuments = async (
  { forms, revisions, deletions }: FormsCollections,
  organizationId: string,
): Promise<CountedUsage> => {
  const query = { organizationId, bytes: { $gte: 0 } }
  // Revisions of cancelled publishes have no bytes.
  const filled = { organizationId, bytes: { $gt: 0 } }
  const [drafts, deleted, snapshots] = await Promise.all([
    forms.sum(query, 'bytes'),
    deletions.sum(filled, 'bytes'),
    revisions.sum(filled, 'bytes'),
  ])
  return {
    forms: drafts.count,
    bytes: drafts.sum + deleted.sum + snapshots.sum,
    revisions: snapshots.count,
    revisionBytes: snapshots.sum,
  }
}
