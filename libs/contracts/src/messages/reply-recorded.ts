import { z } from 'zod'
import { Uuid } from '../organization.ts'
import { defineMessage } from './define-message.ts'

/**
 * Event, from the respondent-facing side: a reply to a form was stored.
 *
 * Delivered at least once; each `replyId` counts once in the form's `replyCount`, however often it is told.
 */
export const ReplyRecorded = defineMessage({
  subject: 'forms.reply-recorded',
  schema: z.object({ replyId: Uuid, formId: Uuid, organizationId: Uuid }),
})
export type ReplyRecorded = z.infer<typeof ReplyRecorded.schema>

/** Where such events wait until they are counted. */
export const repliesStream = { name: 'REPLIES', subjects: [ReplyRecorded.subject] } as const

/** The durable pull consumer that all forms services share. */
export const replyCounterConsumer = 'reply-counter'
