import type { PreconditionViolation } from './error-body.ts'

/** One difference between two states of a form. */
export interface FormChange {
  /** An element that has moved and changed has a `MOVED` and further changes. */
  kind: 'ADDED' | 'REMOVED' | 'CHANGED' | 'MOVED'
  /**
   * Path such as `form.steps[2].title`, with the indexes of `to`, or of `from` if `kind` is `REMOVED`. Cut off with `…` after
   * 500 characters.
   */
  field: string
  /** JSON Pointer (RFC 6901) of the value in the form of `from`. Absent if `kind` is `ADDED`. */
  fromPointer?: string
  /** JSON Pointer (RFC 6901) of the value in the form of `to`. Absent if `kind` is `REMOVED`. */
  toPointer?: string
  /** The value in `from`. Absent if `kind` is `ADDED` or `MOVED`. */
  before?: unknown
  /** The value in `to`. Absent if `kind` is `REMOVED` or `MOVED`. */
  after?: unknown
  /** Present if the change orphans answers that respondents have already given to a question. */
  breaking?: 'STEP_REMOVED' | 'STEP_TYPE_CHANGED' | 'OPTION_REMOVED'
}

/** The differences between two states of a form. */
export interface FormChanges {
  /** Path of the revision. */
  from: string
  /** Path of the revision, or of the form if `to` is `draft`. */
  to: string
  /** Empty if all fields of the maker are equal. */
  changes: FormChange[]
  /** Number of changes with `breaking`. */
  breakingCount: number
  /** Whether `violations` is empty. Present if `to` is `draft`. */
  publishable?: boolean
  /** What prevents a publish of the draft, at most 1,000. Present if `to` is `draft`. */
  violations?: PreconditionViolation[]
}
