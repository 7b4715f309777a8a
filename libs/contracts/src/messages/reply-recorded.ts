import { z } from 'zod'
import { Uuid } from '../resource-names.ts'
import { defineMessage } from './define-message.ts'

/** Event: a reply to a form is stored. Delivered at least once; each `replyId` counts once. */
export const ReplyRecorded = defineMessage({
  subject: 'forms.reply-recorded',
  schema: z.object({ replyId: Uuid, formId: Uuid, organizationId: Uuid }),
})
export type ReplyRecorded = z.infer<typeof ReplyRecorded.schema>

/** The stream of replies that are not counted yet. */
export const repliesStream = { name: 'REPLIES', subjects: [ReplyRecorded.subject] } as const

/** Name of the durable pull consumer that all forms services share. */
export const replyCounterConsumer = 'reply-counter'
