import type { DeletionDocument, FormsCollections, Incarnation } from '../documents.ts'
import type { IncarnationEvent } from './append-events.ts'

/** Bounds of the time until a note is examined again, in milliseconds. It grows with the age of the note. */
const minDelayMs = 100
const maxDelayMs = 60_000

/**
 * How long to wait for the confirmation of a note if several attempts may have deleted the form, in milliseconds. Only the
 * actor of the event depends on it.
 */
const confirmationMs = 10_000

/** A form that was deleted, and its events that may not be in the log yet. */
export interface ResolvedDeletion extends Incarnation {
  events: IncarnationEvent[]
  beginTime: number
  /** The ids of all notes of the incarnation. */
  notes: string[]
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
 * `eventNumber`, since the delete was conditional on that number.
 */
export const resolveDeletions = async (
  collections: FormsCollections,
  organizationId: string,
  incarnations: readonly Incarnation[],
  now: number,
): Promise<Resolution> => {
  if (incarnations.length === 0) return { resolved: [], open: [] }
  const gone = await withoutForm(collections, organizationId, incarnations)
  const notes = gone.length > 0 ? await readNotes(collections, organizationId, gone) : []
  const resolved = gone.flatMap((incarnation) => {
    const own = notes.filter((note) => isSame(note, incarnation))
    return resolve(own, now) ?? []
  })
  const open = incarnations.filter((each) => !resolved.some((other) => isSame(each, other)))
  return { resolved, open }
}

export const isSame = (one: Incarnation, other: Incarnation): boolean =>
  one.formId === other.formId && one.incarnation === other.incarnation

/** The incarnations whose form is gone, as a majority has confirmed. Index: forms_by_id. */
const withoutForm = async (
  { forms }: FormsCollections,
  organizationId: string,
  incarnations: readonly Incarnation[],
): Promise<Incarnation[]> => {
  const query = { organizationId, _id: { $in: [...new Set(incarnations.map(({ formId }) => formId))] } }
  const found = await Array.fromAsync(forms.find(query, { fields: ['_id', 'incarnation'] }))
  const alive = new Set(found.map(({ incarnation }) => incarnation))
  const gone = incarnations.filter(({ incarnation }) => !alive.has(incarnation))
  const keys = gone.map(({ formId, incarnation }) => ({ organizationId, _id: formId, incarnation }))
  // A read alone does not suffice: a failover may take back a delete that no majority has.
  return (await forms.confirmEach(keys)) === 0 ? gone : []
}

/** Index: deletions_by_form. */
const readNotes = (
  { deletions }: FormsCollections,
  organizationId: string,
  gone: readonly Incarnation[],
): Promise<DeletionDocument[]> => {
  const formIds = [...new Set(gone.map(({ formId }) => formId))]
  const incarnations = gone.map(({ incarnation }) => incarnation)
  const query = { organizationId, formId: { $in: formIds }, incarnation: { $in: incarnations } }
  return Array.fromAsync(deletions.find(query))
}

/**
 * Chooses the note of the attempt that has deleted the form: the one with the highest `eventNumber`. Of several, it is the
 * confirmed one, or the earliest if its attempt was killed before it could confirm it.
 *
 * @returns undefined if it is too early to choose.
 */
const resolve = (notes: readonly DeletionDocument[], now: number): ResolvedDeletion | undefined => {
  const ofDeletes = notes.filter(({ eventNumber }) => eventNumber !== undefined)
  const highest = Math.max(...ofDeletes.map(({ eventNumber }) => eventNumber!))
  const candidates = ofDeletes
    .filter(({ eventNumber }) => eventNumber === highest)
    .sort((a, b) => a.beginTime - b.beginTime)
  const confirmed = candidates.find(({ isConfirmed }) => isConfirmed)
  const chosen = confirmed ?? candidates[0]
  if (!chosen) return undefined
  const isOpen = candidates.length > 1 && !confirmed
  if (isOpen && candidates.some(({ beginTime }) => now - beginTime < confirmationMs)) return undefined
  const { organizationId, formId, incarnation, beginTime, pendingEvents = [] } = chosen
  const own = { organizationId, formId, incarnation }
  const events = pendingEvents.map((event) => ({ ...own, ...event }))
  return { ...own, events, beginTime, notes: ofDeletes.map(({ _id }) => _id) }
}

/** Notes that the events of a deletion are in the log. The notes stay until the deletion is cleared. */
export const finishDeletions = async (
  { deletions }: FormsCollections,
  organizationId: string,
  finished: readonly ResolvedDeletion[],
): Promise<void> => {
  const notes = finished.flatMap((each) => each.notes)
  if (notes.length === 0) return
  const fields = { pendingEvents: [], pendingCount: 0, collectTime: 0 }
  await deletions.setMany({ organizationId, _id: { $in: notes } }, fields)
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
