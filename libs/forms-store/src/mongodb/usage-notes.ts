import { randomUUID } from 'node:crypto'
import type { FormsCollections, UsageDocument, UsageNote } from './documents.ts'
import { documentIdsOf } from './form-queries.ts'

/**
 * How long the create or delete of a form can be in flight, in milliseconds: longer than its requests may take together,
 * also in formctl, which waits a minute for each.
 */
const defaultInFlightMs = 300_000

/** How many organizations' notes a process remembers at most. Other processes settle the notes that it forgets. */
const maxOrganizations = 10_000

/** An incarnation of a form: a form that is deleted and imported again has another one. */
export interface NotedForm {
  formId: string
  incarnation: string
  /** That of the form. Default: 0. */
  undeleteCount?: number | undefined
}

/** A note with its member of `notes`. */
export interface KeyedNote extends UsageNote {
  key: string
}

/** The note of a create or an undelete (`forms` 1), or of a delete (`forms` -1). */
export const newNote = (form: NotedForm, { forms, bytes }: { forms: number; bytes: number }): KeyedNote => ({
  key: keyOf(form, forms),
  id: randomUUID(),
  formId: form.formId,
  incarnation: form.incarnation,
  ...(form.undeleteCount && { undeleteCount: form.undeleteCount }),
  users: 1,
  forms,
  bytes,
})

/**
 * The key of the change that has led to the present state of the form, and therefore is over: the create or undelete
 * before a delete, or the delete before an undelete.
 */
export const earlierKeyOf = (note: UsageNote): string =>
  note.forms < 0 ? keyOf(note, 1) : keyOf({ ...note, undeleteCount: (note.undeleteCount ?? 0) - 1 }, -1)

const keyOf = ({ incarnation, undeleteCount = 0 }: NotedForm, forms: number): string =>
  `${forms > 0 ? 'create' : 'delete'}-${incarnation}${undeleteCount > 0 ? `-${undeleteCount}` : ''}`

/** What this process knows of the notes in usage documents. It uses no clock but its own monotonic one. */
export class NoteMemory {
  readonly #inFlightMs: number
  /** Keys of the notes of this process whose change was stored, by organization. */
  readonly #finished = new Map<string, Set<string>>()
  /** When this process saw a note for the first time, by organization and id. */
  readonly #firstSeen = new Map<string, Map<string, number>>()

  constructor(inFlightMs = defaultInFlightMs) {
    this.#inFlightMs = inFlightMs
  }

  /** Remembers finished notes, which the next update of the document removes. */
  finish(organizationId: string, keys: readonly string[]): void {
    if (keys.length === 0) return
    const finished = this.#finished.get(organizationId) ?? new Set()
    this.#finished.set(organizationId, finished)
    for (const key of keys) finished.add(key)
    forgetOldest(this.#finished)
  }

  /**
   * Takes the keys of the finished notes. Only one update may remove them: when a second one arrives, another change
   * may have a note with the same key.
   */
  takeFinished(organizationId: string): string[] {
    const keys = [...(this.#finished.get(organizationId) ?? [])]
    this.#finished.delete(organizationId)
    return keys
  }

  /** The notes of a document, without those that this process has finished. */
  unfinished({ organizationId, notes = {} }: UsageDocument): KeyedNote[] {
    const finished = this.#finished.get(organizationId)
    const all = Object.entries(notes).map(([key, note]) => ({ key, ...note }))
    return finished ? all.filter(({ key }) => !finished.has(key)) : all
  }

  /** Of all notes in a document, those that this process first saw long ago: their changes are over. */
  stale(organizationId: string, notes: readonly KeyedNote[]): KeyedNote[] {
    const now = performance.now()
    const before = this.#firstSeen.get(organizationId)
    const seen = new Map(notes.map(({ id }) => [id, before?.get(id) ?? now]))
    this.#firstSeen.delete(organizationId)
    if (seen.size > 0) this.#firstSeen.set(organizationId, seen)
    forgetOldest(this.#firstSeen)
    return notes.filter(({ id }) => now - seen.get(id)! >= this.#inFlightMs)
  }
}

const forgetOldest = (organizations: Map<string, unknown>) => {
  if (organizations.size <= maxOrganizations) return
  const [oldest] = organizations.keys()
  organizations.delete(oldest!)
}

const memories = new WeakMap<FormsCollections, NoteMemory>()

/** The memory of a store. @param inFlightMs for tests, in the first call for a store. */
export const noteMemory = (collections: FormsCollections, inFlightMs?: number): NoteMemory => {
  const memory = memories.get(collections) ?? new NoteMemory(inFlightMs)
  memories.set(collections, memory)
  return memory
}

/**
 * The notes that the usage counts although their change is not stored: creates whose form does not exist, and deletes
 * whose form exists. Index: forms_by_id.
 */
export const notStored = async (
  { forms }: FormsCollections,
  organizationId: string,
  notes: readonly KeyedNote[],
): Promise<KeyedNote[]> => {
  if (notes.length === 0) return []
  const ids = notes.flatMap(({ formId }) => documentIdsOf({ organizationId, formId }))
  const fields = ['_id', 'incarnation', 'undeleteCount']
  const found = await Array.fromAsync(forms.find({ organizationId, _id: { $in: ids } }, { fields }))
  const existing = new Map(found.map(({ incarnation, undeleteCount = 0 }) => [incarnation, undeleteCount]))
  return notes.filter((note) => {
    const undeletes = existing.get(note.incarnation)
    if (note.forms > 0) return undeletes === undefined
    // A form that was restored since, was deleted.
    return undeletes === (note.undeleteCount ?? 0)
  })
}

/** The sum of what the notes have added to the usage. */
export const sumOf = (notes: readonly UsageNote[]): { forms: number; bytes: number } => ({
  forms: notes.reduce((sum, { forms }) => sum + forms, 0),
  bytes: notes.reduce((sum, { bytes }) => sum + bytes, 0),
})
