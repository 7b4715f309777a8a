import type { Form } from './form.ts'

/** A published draft (AIP-162). Immutable except for `alternateIds`. */
export interface Revision {
  /** `organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}` */
  path: string
  /** `["live"]` on the live revision, `[]` on the others. */
  alternateIds: 'live'[]
  /** Time of the publish. RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** The form as it was published. */
  form: Form
}
