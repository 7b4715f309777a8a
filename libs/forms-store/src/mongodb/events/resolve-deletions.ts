import { removeLateInsert } from '../changes/insert-form.ts'
import type { DeletionDocument, FormsCollections, Incarnation } from '../documents.ts'
import { documentIdsOf, formByIdEach } from '../form-queries.ts'
import type { IncarnationEvent } from './append-events.ts'

/** Bounds of the time until a note is examined again, in milliseconds. It grows with the age of the note. */
const minDelayMs = 100
const maxDelayMs = 60_000

/**
 * How long to wait for the confirmation of a note if several requests may have deleted the form, in milliseconds. The actor
 * of the event depends on it, and whether and how long the form can be restored.
 */
const confirmationMs = 10_000

/** How long after a delete a late insert of the form may come, in milliseconds. No request takes this long. */
const lateInsertMs = 10 * 60_000

/** A form that was deleted, and its events that may not be in the log yet. */
export interface ResolvedDeletion extends Incarnation {
  events: IncarnationEvent[]
  beginTime: number
  /** The note of the attempt that has deleted the form. */
  chosen: DeletionDocument
  /** The ids of the other notes of the incarnation: their attempts have deleted nothing. */
  others: string[]
}

/** What is known of the incarnations that have notes. */
export interface Resolution {
  resolved: ResolvedDeletion[]
  /** Those whose form exists, and those whose note of the delete is not chosen yet. */
  open: Incarnation[]
}

/**
 * Finds the incarnations whose form is gone, and for each the note of the attempt that deleted it.
 *
 * Attempts that lost or were killed may have left notes, too. So this first checks that the form is gone, and reads the
 * notes afterwards: then the note of the attempt that deleted the form is among them, and it has the highest
 * `eventNumber` and `changeNumber`, since the delete was conditional on the state of the form. An undelete may restore the
 * form meanwhile, and the next delete insert its note and be killed. So the notes have to be those from before the check.
 */
export const resolveDeletions = async (
  collections: FormsCollections,
  organizationId: string,
  incarnations: readonly Incarnation[],
  now: number,
): Promise<Resolution> => {
  if (incarnations.length === 0) return { resolved: [], open: [] }
  const earlier = await readNotes(collections, organizationId, incarnations, keyFields)
  const gone = await withoutForm(collections, organizationId, incarnations)
  const notes = gone.length > 0 ? await readNotes(collections, organizationId, gone) : []
  const attempts = gone.map(async (incarnation) => {
    const ofIncarnation = (all: readonly DeletionDocument[]) =>
      all.filter((note) => isSame(note, incarnation))
    const own = ofIncarnation(notes)
    if (!hasSameNotes(ofIncarnation(earlier), own)) return []
    const choice = choose(own, now)
    return choice && (await confirmChoice(collections, choice)) ? [toResolved(choice)] : []
  })
  const resolved = (await Promise.all(attempts)).flat()
  const open = incarnations.filter((each) => !resolved.some((other) => isSame(each, other)))
  return { resolved, open }
}

export const isSame = (one: Incarnation, other: Incarnation): boolean =>
  one.formId === other.formId && one.incarnation === other.incarnation

const hasSameNotes = (some: readonly DeletionDocument[], others: readonly DeletionDocument[]): boolean =>
  some.length === others.length && some.every(({ _id }) => others.some((other) => other._id === _id))

/** The incarnations whose form is gone, as a majority has confirmed. Index: forms_by_id. */
const withoutForm = async (
  { forms }: FormsCollections,
  organizationId: string,
  incarnations: readonly Incarnation[],
): Promise<Incarnation[]> => {
  const query = {
    organizationId,
    _id: { $in: [...new Set(incarnations.flatMap((each) => documentIdsOf(each)))] },
  }
  const found = await Array.fromAsync(forms.find(query, { fields: ['_id', 'incarnation'] }))
  const alive = new Set(found.map(({ incarnation }) => incarnation))
  const gone = incarnations.filter(({ incarnation }) => !alive.has(incarnation))
  const keys = gone.flatMap((each) =>
    formByIdEach(each).map((key) => ({ ...key, incarnation: each.incarnation })),
  )
  // A read alone does not suffice: a failover may take back a delete that no majority has.
  return (await forms.confirmEach(keys)) === 0 ? gone : []
}

const keyFields = ['organizationId', 'formId', 'incarnation'] as const

/** The fields that the choice of a note reads. */
const noteFields = [
  ...keyFields,
  'beginTime',
  'eventNumber',
  'changeNumber',
  'undeleteCount',
  'pendingEvents',
  'isConfirmed',
  'isRejected',
  'purgeTime',
  'form.bytes',
] as const

/** Index: deletions_by_form. */
const readNotes = (
  { deletions }: FormsCollections,
  organizationId: string,
  of: readonly Incarnation[],
  fields: readonly string[] = noteFields,
): Promise<DeletionDocument[]> => {
  const formIds = [...new Set(of.map(({ formId }) => formId))]
  const incarnations = of.map(({ incarnation }) => incarnation)
  const query = { organizationId, formId: { $in: formIds }, incarnation: { $in: incarnations } }
  return Array.fromAsync(deletions.find(query, { fields }))
}

/** The notes of an incarnation: that of the attempt that has deleted its form, and the others. */
interface Choice {
  chosen: DeletionDocument
  others: DeletionDocument[]
}

/**
 * Chooses the note of the attempt that has deleted the form: the confirmed one with the latest event of the form. If there
 * is none, since the attempt was killed, it is the one with the latest state of the form, and of several the latest: earlier
 * ones may have been killed long before, while the form existed.
 *
 * @returns undefined if it is too early to choose.
 */
const choose = (notes: readonly DeletionDocument[], now: number): Choice | undefined => {
  const ofDeletes = notes
    .filter(({ eventNumber }) => eventNumber !== undefined)
    .sort((a, b) => compareStates(b, a) || b.beginTime - a.beginTime || compareIds(a, b))
  const eligible = ofDeletes.filter(({ isRejected = false }) => !isRejected)
  const candidates = eligible.filter((note) => compareStates(note, eligible[0]!) === 0)
  const confirmed = eligible.find((note) => note.isConfirmed && note.eventNumber === eligible[0]!.eventNumber)
  const chosen = confirmed ?? candidates[0]
  if (!chosen) return undefined
  // Attempts of one request have the same event.
  const isOpen = !confirmed && new Set(candidates.map(lastEventId)).size > 1
  if (isOpen && candidates.some(({ beginTime }) => now - beginTime < confirmationMs)) return undefined
  return { chosen, others: ofDeletes.filter((note) => note !== chosen) }
}

const lastEventId = ({ _id, pendingEvents = [] }: DeletionDocument): string => pendingEvents.at(-1)?.id ?? _id

/** Compares the states of a form that two attempts have read. */
const compareStates = (a: DeletionDocument, b: DeletionDocument): number =>
  a.eventNumber! - b.eventNumber! || (a.changeNumber ?? 0) - (b.changeNumber ?? 0)

const compareIds = (a: DeletionDocument, b: DeletionDocument): number => (a._id < b._id ? -1 : 1)

/**
 * Rejects the other notes, and confirms the chosen one. A note is never both: so other collections, and an attempt that is
 * slow to confirm its note, come to the same result.
 *
 * @returns false if they came to another one before. The next collection finds it.
 */
const confirmChoice = async (collections: FormsCollections, { chosen, others }: Choice): Promise<boolean> => {
  const { deletions } = collections
  for (const other of others) {
    const { organizationId, _id, isRejected } = other
    // Only an undelete can come between two confirmed notes, and it has an event.
    const isEarlier = other.eventNumber! < chosen.eventNumber!
    const key = { organizationId, _id, ...(!isEarlier && { isConfirmed: { $ne: true } }) }
    if (!isRejected && !(await deletions.set(key, rejectedFields))) return false
  }
  if (chosen.isConfirmed) return true
  const { organizationId, _id } = chosen
  if (!(await deletions.set({ organizationId, _id, isRejected: { $ne: true } }, confirmedFields(chosen))))
    return false
  await removeLateInsert(collections, chosen)
  return true
}

const collectedFields = { pendingEvents: [], pendingCount: 0, collectTime: 0 }

const rejectedFields = {
  ...collectedFields,
  isRejected: true,
  form: null,
  purgeTime: 0,
  deleteTime: 0,
  bytes: 0,
}

/** What changes in a note once it is known that its attempt has deleted the form. */
export const confirmedFields = ({
  form,
  beginTime,
}: Pick<DeletionDocument, 'form' | 'beginTime'>): Partial<DeletionDocument> => ({
  isConfirmed: true,
  ...(form && { deleteTime: beginTime, bytes: form.bytes, checkTime: beginTime + lateInsertMs }),
})

const toResolved = ({ chosen, others }: Choice): ResolvedDeletion => {
  const { organizationId, formId, incarnation, beginTime, pendingEvents = [] } = chosen
  const own = { organizationId, formId, incarnation }
  const events = pendingEvents.map((event) => ({ ...own, ...event }))
  return { ...own, events, beginTime, chosen, others: others.map(({ _id }) => _id) }
}

/** Notes that the events of a deletion are in the log. The note stays until the deletion is cleared, or undone. */
export const finishDeletions = async (
  { deletions }: FormsCollections,
  organizationId: string,
  finished: readonly ResolvedDeletion[],
): Promise<void> => {
  const changes = finished.map(({ chosen: { _id, purgeTime = null } }) => ({
    // A purge adds an event.
    query: { organizationId, _id, purgeTime },
    fields: collectedFields,
  }))
  await deletions.setEach(changes)
  const others = finished.flatMap((each) => each.others)
  if (others.length > 0) await deletions.deleteMany({ organizationId, _id: { $in: others } })
}

/**
 * Sets when notes are examined again. The note of a killed attempt stays for as long as its form: without the delay, such
 * notes would fill every collection.
 */
export const postponeNotes = async (
  { deletions }: FormsCollections,
  organizationId: string,
  notes: readonly DeletionDocument[],
  now: number,
): Promise<void> => {
  const changes = notes.map(({ _id, beginTime, collectTime }) => ({
    // Not if its attempt has confirmed it meanwhile.
    query: { organizationId, _id, collectTime: collectTime!, isConfirmed: { $ne: true } },
    fields: { collectTime: now + Math.min(Math.max(now - beginTime, minDelayMs), maxDelayMs) },
  }))
  await deletions.setEach(changes)
}
