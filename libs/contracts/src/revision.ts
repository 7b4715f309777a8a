import { z } from 'zod'
import { Form } from './form.ts'
import { Timestamp } from './text.ts'

/** The alternate id of the revision that respondents see (AIP-162). */
export const liveAlias = 'live'

/** A draft as it was published (AIP-162). Immutable but for `alternateIds`. */
export const Revision = z
  .strictObject({
    path: z
      .string()
      .regex(/^organizations\/[0-9a-f-]{36}\/forms\/[0-9a-f-]{36}\/revisions\/[0-9a-f-]{36}$/)
      .describe('`organizations/{organization_id}/forms/{form_id}/revisions/{revision_id}`'),
    alternateIds: z
      .array(z.literal(liveAlias))
      .max(1)
      .describe('`["live"]` on the live revision, `[]` on the others.'),
    createTime: Timestamp.describe('When it was published.'),
    form: Form.describe('The form as it was published.'),
  })
  .meta({ id: 'Revision', description: 'A draft as it was published. Immutable but for `alternateIds`.' })
export type Revision = z.infer<typeof Revision>
