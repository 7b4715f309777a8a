import type { Form } from './form.ts'

/** A draft as it was published (AIP-162). Immutable but for `alternateIds`. */
export interface Revision {
  /** `organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}` */
  path: string
  /** `["live"]` on the live revision, `[]` on the others. */
  alternateIds: 'live'[]
  /** When it was published. RFC 3339, UTC, with milliseconds. */
  createTime: string
  /** The form as it was published. */
  form: Form
}
