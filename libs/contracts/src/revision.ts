import { z } from 'zod'
import { Form } from './form.ts'
import { Count, Timestamp, text } from './text.ts'

/** Alternate id of the revision that respondents see (AIP-162). */
export const liveAlias = 'live'

/** Names the revision with the highest number where a revision is addressed. */
export const latestAlias = 'latest'

/** The note of a publish, in characters. */
const maxNoteLength = 500

export const RevisionNote = text(maxNoteLength)

/** A published draft (AIP-162). Immutable except for `alternateIds`. */
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
    createTime: Timestamp.describe('Time of the publish.'),
    number: Count.describe('Increases with each revision of the form. Numbers may be missing.'),
    publisher: z
      .string()
      .describe('Who published it: `users/{user_id}`. `""` for revisions that an operator imported as new.'),
    note: RevisionNote.describe('`note` of the publish; `""` without one.'),
    form: Form.describe('The form as it was published.'),
  })
  .meta({ id: 'Revision', description: 'A published draft. Immutable except for `alternateIds`.' })
export type Revision = z.infer<typeof Revision>
