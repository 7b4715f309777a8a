import { z } from 'zod'
import { Form } from './form.ts'
import { Timestamp } from './text.ts'

/** The alternate id of the revision that respondents see (AIP-162). */
export const liveAlias = 'live'

/** A draft as it was published (AIP-162). Immutable but for `alternateIds`. */
export const Revision = z.strictObject({
  /** `organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}` */
  path: z.string().regex(/^organizations\/[0-9a-f-]{36}\/forms\/[0-9a-f-]{36}\/revisions\/[0-9a-f-]{36}$/),
  /** `["live"]` on the live revision, `[]` on the others. */
  alternateIds: z.array(z.literal(liveAlias)).max(1),
  createTime: Timestamp,
  /** The form as it was published. */
  form: Form,
})
export type Revision = z.infer<typeof Revision>
