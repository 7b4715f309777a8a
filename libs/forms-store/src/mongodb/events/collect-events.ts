import { eventFields } from '../convert-documents.ts'
import type { DeletionDocument, FormDocument, FormsCollections, Incarnation } from '../documents.ts'
import { formById, formIdOf, formKey } from '../form-queries.ts'
import { appendEvents } from './append-events.ts'
import { CollectionTasks } from './collection-tasks.ts'
import { withIncreasingTimes } from './event-times.ts'
import { pendingFields } from './record-event.ts'
import { finishDeletions, isSame, postponeNotes, resolveDeletions } from './resolve-deletions.ts'

/** Maximum number of forms that one request changes, so that slow engines finish within the timeout. */
const removalsPerRequest = 20

/** Attempts to remove collected events from forms that keep changing. The next collection removes the rest. */
const maxRemovals = 5

/** The forms and notes of one organization that have pending events. */
interface Pending {
  organizationId: string
  forms: FormDocument[]
  notes: DeletionDocument[]
}

/**
 * Moves pending events of at most `limit` forms and deleted forms to the logs, the oldest first. An error of one
 * organization is thrown after the others are done.
 *
 * @param now milliseconds since the epoch.
 * @param tasks those of the process; by default new ones, which this waits for.
 * @returns the number of forms and deleted forms whose events were moved, plus the organizations in progress; `limit` if
 *   there may be more.
 */
export const collectEvents = async (
  collections: FormsCollections,
  limit: number,
  now = Date.now(),
  tasks = new CollectionTasks(),
): Promise<number> => {
  const { pending, mayHaveMore } = await findPending(collections, limit, now, tasks.busy)
  const moved = await tasks.run(pending, (each) => collectOrganization(collections, each, now))
  return mayHaveMore && moved > 0 ? limit : moved
}

/** Indexes: forms_by_pendingTime and deletions_by_collectTime. These queries name no organization. */
const findPending = async (
  { forms, deletions }: FormsCollections,
  limit: number,
  now: number,
  busy: readonly string[],
): Promise<{ pending: Pending[]; mayHaveMore: boolean }> => {
  const due = { collectTime: { $gt: 0, $lte: now } }
  const options = { sort: { collectTime: 1 }, fields: noteFields } as const
  const notes = await findFairly(limit, busy, (query, count) =>
    deletions.findDurable({ ...due, ...query }, { ...options, limit: count }),
  )
  const found = await findFairly(limit, busy, (query, count) =>
    forms.findDurable({ pendingTime: { $gt: 0 }, ...query }, { ...byPendingTime, limit: count }),
  )
  const takenNotes = notes.slice(0, Math.max(limit - found.length, Math.ceil(limit / 2)))
  const takenForms = found.slice(0, limit - takenNotes.length)
  return {
    pending: byOrganization(takenForms, takenNotes),
    mayHaveMore: found.length + notes.length >= limit,
  }
}

/**
 * Finds the oldest, at most `limit`. An organization with many of them, as after an import, must not hold up others: if the
 * oldest are too many, half of the result is of other organizations than theirs, as far as there are any.
 */
const findFairly = async <T extends { organizationId: string }>(
  limit: number,
  busy: readonly string[],
  find: (query: object, limit: number) => Promise<T[]>,
): Promise<T[]> => {
  const without = (ids: readonly string[]) => (ids.length > 0 ? { organizationId: { $nin: ids } } : {})
  const oldest = await find(without(busy), limit)
  const half = Math.floor(limit / 2)
  if (oldest.length < limit || half === 0) return oldest
  const theirs = new Set(oldest.map(({ organizationId }) => organizationId))
  const others = await find(without([...busy, ...theirs]), half)
  return [...others, ...oldest].slice(0, limit)
}

const noteFields = ['organizationId', 'formId', 'incarnation', 'beginTime', 'collectTime'] as const
const byPendingTime = { sort: { pendingTime: 1 }, fields: eventFields } as const

const byOrganization = (forms: FormDocument[], notes: DeletionDocument[]): Pending[] => {
  const all = new Map<string, Pending>()
  const of = (organizationId: string): Pending => {
    const pending = all.get(organizationId) ?? { organizationId, forms: [], notes: [] }
    all.set(organizationId, pending)
    return pending
  }
  for (const form of forms) of(form.organizationId).forms.push(form)
  for (const note of notes) of(note.organizationId).notes.push(note)
  return [...all.values()]
}

/**
 * Moves the pending events of one form to the log, and those of its earlier incarnations, for a writer that cannot wait for
 * the next collection.
 */
export const collectForm = async (
  collections: FormsCollections,
  { organizationId, formId }: Omit<Incarnation, 'incarnation'>,
): Promise<void> => {
  const key = { ...formById({ organizationId, formId }), pendingTime: { $gt: 0 } }
  const forms = await collections.forms.findDurable(key, { fields: eventFields })
  const notes = await findNotes(collections, organizationId, [formId])
  await collectOrganization(collections, { organizationId, forms, notes }, Date.now(), true)
}

/** Index: deletions_by_form. */
const findNotes = (
  { deletions }: FormsCollections,
  organizationId: string,
  formIds: string[],
): Promise<DeletionDocument[]> =>
  deletions.findDurable(
    { organizationId, formId: { $in: formIds }, collectTime: { $gt: 0 } },
    { fields: noteFields },
  )

/** @param hasAllNotes whether `notes` has all notes of these forms. */
const collectOrganization = async (
  collections: FormsCollections,
  { organizationId, forms, notes: due }: Pending,
  now: number,
  hasAllNotes = false,
): Promise<number> => {
  // Read after the forms: then an earlier incarnation of any of them has its notes here.
  const formIds = forms.map(formIdOf)
  const earlier =
    hasAllNotes || formIds.length === 0 ? [] : await findNotes(collections, organizationId, formIds)
  const incarnations = uniqueBy([...due, ...earlier], ({ incarnation }) => incarnation)
  const { resolved, open } = await resolveDeletions(collections, organizationId, incarnations, now)
  const isBlocked = (form: FormDocument) =>
    open.some((each) => each.formId === formIdOf(form) && each.incarnation !== form.incarnation)
  const { deletions, timed } = await withIncreasingTimes(
    collections,
    organizationId,
    resolved.sort((a, b) => a.beginTime - b.beginTime),
    forms.filter((form) => !isBlocked(form)),
  )
  // A form that was deleted after it was read has its events in its notes, too.
  const events = uniqueBy(
    [...deletions, ...timed].flatMap(({ events }) => events),
    ({ id }) => id,
  )
  const ids = await appendEvents(collections, organizationId, events)

  const hasAll = ({ events }: { events: { id: string }[] }) => events.every(({ id }) => ids.has(id))
  const finished = deletions.filter(hasAll)
  const collected = timed.filter(hasAll).map(({ form }) => form)
  await removeEvents(collections, organizationId, collected, ids)
  await finishDeletions(collections, organizationId, finished)
  const postponed = due.filter((note) => open.some((each) => isSame(each, note)))
  await postponeNotes(collections, organizationId, postponed, now)
  return collected.length + finished.length
}

/** The first item with each key. */
const uniqueBy = <T>(items: readonly T[], keyOf: (item: T) => string): T[] => {
  const first = new Map<string, T>()
  for (const item of items) {
    if (!first.has(keyOf(item))) first.set(keyOf(item), item)
  }
  return [...first.values()]
}

/** Removes events that are in the log from their forms. */
const removeEvents = async (
  collections: FormsCollections,
  organizationId: string,
  collected: readonly FormDocument[],
  ids: Set<string>,
): Promise<void> => {
  for (let first = 0; first < collected.length; first += removalsPerRequest) {
    const batch = collected.slice(first, first + removalsPerRequest)
    await removeFromBatch(collections, organizationId, batch, ids)
  }
}

/** Removes events from forms on condition of `eventNumber`: forms that have changed meanwhile are read again. */
const removeFromBatch = async (
  { forms }: FormsCollections,
  organizationId: string,
  batch: readonly FormDocument[],
  ids: Set<string>,
): Promise<void> => {
  let left = batch
  for (let attempt = 0; attempt < maxRemovals && left.length > 0; attempt++) {
    const changes = left.map((form) => ({
      query: { ...formKey(form), eventNumber: form.eventNumber, pendingCount: { $gt: 0 } },
      fields: pendingFields(form.pendingEvents!.filter(({ id }) => !ids.has(id))),
    }))
    if ((await forms.setEach(changes)) === left.length) return
    const query = { organizationId, _id: { $in: left.map(({ _id }) => _id) }, pendingTime: { $gt: 0 } }
    const found = await Array.fromAsync(forms.find(query, { fields: eventFields }))
    left = found.filter(({ pendingEvents }) => pendingEvents!.some(({ id }) => ids.has(id)))
  }
}
