import type { Form } from './form.ts'

/** A published draft (AIP-162). Immutable except for `alternateIds`. */
export interface Revision {
  /** `organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}` */
  path: string
  /** `["live"]` on the live revision, `[]` on the others. */
  alternateIds: 'live'[]
  /** Time of the publish. RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** Increases with each revision of the form. Numbers may be missing. */
  number: number
  /** Who published it: `users/{user_id}`; `""` for revisions of release 0.1.0, and of operators. */
  publisher: string
  /** `note` of the publish; `""` without one. */
  note: string
  /** The form as it was published. */
  form: Form
}
