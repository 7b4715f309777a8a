import type { ApiResponse } from '../system.ts'

/** What a client has sent about one form, and what was acknowledged. */
export interface Entry {
  publicId: string
  /** Names that the draft may have: the last acknowledged one, and those of writes without an acknowledgement. */
  names: Set<string>
  /** Every name that was sent. */
  sentNames: Set<string>
  /** The request ids of all publishes that were sent. */
  requestIds: string[]
  /** For each acknowledged publish, in the order of revisions: the names that the draft may have had. */
  published: Set<string>[]
  /** How many unpublishes were acknowledged. */
  unpublishes: number
  /** How many undeletes were acknowledged. */
  undeletes: number
  /** Whether the form is live; undefined while a publish or an unpublish is without an acknowledgement. */
  live: boolean | undefined
  deletion: 'none' | 'delete sent' | 'deleted' | 'undelete sent'
}

/** A write with a `requestId`: however often it is sent, it takes effect once. A publish is none. */
export interface Write {
  method: 'POST' | 'PATCH' | 'DELETE'
  /** Without `/v2`. */
  path: string
  body?: object
  /** The form; undefined for a create. */
  entry?: Entry
  /** Whether it deletes or restores the form. */
  isDeletion?: boolean
  /** The names that it may give the draft. */
  names?: ReadonlySet<string>
  /** The status of a repeat of a write that was never executed, and cannot be any more. */
  refusal?: number
  /** Adds the write to the journal. @param isRepeat whether an earlier attempt had no acknowledgement. */
  acknowledge(response: ApiResponse, isRepeat: boolean): void
}

/** The writes that were sent and not acknowledged: each of them may still take effect. */
export class PendingWrites {
  /** The writes, and whether they were sent again. */
  readonly #writes = new Map<Write, boolean>()

  add(write: Write): void {
    this.#writes.set(write, false)
  }

  addRepeat(write: Write): void {
    this.#writes.set(write, true)
  }

  /** The write is acknowledged or refused. @returns whether it was sent again. */
  settle(write: Write): boolean {
    const isRepeat = this.#writes.get(write) ?? false
    this.#writes.delete(write)
    return isRepeat
  }

  clear(): void {
    this.#writes.clear()
  }

  /** Writes of forms that are not deleted, and those that delete, restore or create a form. */
  repeatable(): Write[] {
    return [...this.#writes.keys()].filter(
      ({ entry, isDeletion }) => !entry || isDeletion || entry.deletion === 'none',
    )
  }

  /** All writes in an order in which a repeat decides each: first those that delete or restore a form. */
  inOrderOfRepeat(): Write[] {
    return [...this.#writes.keys()].sort(
      (a, b) => Number(b.isDeletion ?? false) - Number(a.isDeletion ?? false),
    )
  }

  /** The names that writes without an acknowledgement may give the draft. */
  namesOf(entry: Entry): string[] {
    return [...this.#writes.keys()].flatMap((write) =>
      write.entry === entry ? [...(write.names ?? [])] : [],
    )
  }

  hasUnpublish(entry: Entry): boolean {
    return [...this.#writes.keys()].some(
      (write) => write.entry === entry && write.path.endsWith('/unpublish'),
    )
  }
}
