import { z } from 'zod'
import { Problem } from '../error.ts'
import { ActorKey } from '../event.ts'
import { Uuid } from '../resource-names.ts'
import { RevisionNote } from '../revision.ts'
import { defineMessage } from './define-message.ts'

/**
 * Command, gateway to publisher: freezes the draft as a revision and makes it the live one. Delivered at least once;
 * the same `commandId` again changes nothing, and gets the same {@link FormPublished} on its `Reply-Inbox`.
 */
export const PublishForm = defineMessage({
  subject: 'publish.form',
  schema: z.object({
    /** The `requestId` of the request, or a new UUID; unique in its organization. */
    commandId: Uuid,
    organizationId: Uuid,
    /** Canonical id or public id, as in the request. */
    formRef: z.string(),
    userId: Uuid,
    key: ActorKey,
    validateOnly: z.boolean(),
    /** The condition of `If-Match` (RFC 9110 §13.1.1): any form, or one of these strong ETags of the draft; absent for none. */
    ifMatch: z.union([z.literal('*'), z.array(z.string())]).optional(),
    note: RevisionNote.optional(),
    /** Refuse changes since the live revision that orphan answers. Absent for false. */
    refuseBreaking: z.boolean().optional(),
  }),
})
export type PublishForm = z.infer<typeof PublishForm.schema>

/** Header: the inbox of the gateway for the reply, with a token for each command. */
export const replyInboxHeader = 'Reply-Inbox'

/**
 * Header: the deadline of the command, in milliseconds of the monotonic clock of its gateway. The client waits until
 * then, and publishers must not start the command later (decision 18).
 */
export const deadlineHeader = 'Publish-Deadline'

/** Reply of a gateway to an empty request on {@link clockInboxOf}: its monotonic time in milliseconds. */
export const GatewayClock = defineMessage({ subject: '', schema: z.object({ nowMs: z.number() }) })

/** The subject on which the gateway of an inbox `_INBOX.gateway.{gateway}.{token}` replies with its {@link GatewayClock}. */
export const clockInboxOf = (replyInbox: string): string =>
  `${replyInbox.slice(0, replyInbox.lastIndexOf('.'))}.clock`

/** Header: the request id, for the log lines of all services. */
export const requestIdHeader = 'x-request-id'

const Published = z.object({ outcome: z.literal('published'), etag: z.string() })
const Refused = z.object({ outcome: z.literal('refused'), problem: Problem })
const Outcome = defineMessage({ subject: '', schema: z.discriminatedUnion('outcome', [Published, Refused]) })

/** Reply to {@link PublishForm}: the JSON of the response body, or the error. */
export type FormPublished = (z.infer<typeof Published> & { formJson: string }) | z.infer<typeof Refused>

/**
 * Encodes a reply as two lines: the outcome, and the JSON of the form, which the gateway copies unparsed. As a string
 * in the first line it would need escapes, and a large form would exceed the maximum size of a message.
 */
export const FormPublished = {
  schema: Outcome.schema,
  encode: (reply: FormPublished): Uint8Array => {
    if (reply.outcome === 'refused') return Outcome.encode(reply)
    const { formJson, ...published } = reply
    return new TextEncoder().encode(`${JSON.stringify(published)}\n${formJson}`)
  },
  /** @throws {Error} for a first line that is not JSON or does not match the schema. */
  decode: (bytes: Uint8Array): FormPublished => {
    const end = bytes.indexOf(0x0a)
    const outcome = Outcome.decode(end === -1 ? bytes : bytes.subarray(0, end))
    if (outcome.outcome === 'refused') return outcome
    return { ...outcome, formJson: new TextDecoder().decode(bytes.subarray(end + 1)) }
  },
}

/** Subject of the empty messages with which a publisher checks that the stream stores commands. */
export const publishProbeSubject = 'publish.probe'

/** The stream of pending commands: a work queue on disk. A PubAck means that the command is stored. */
export const publishStream = {
  name: 'PUBLISH',
  subjects: [PublishForm.subject, publishProbeSubject],
} as const

/** `PUBLISH_TIMEOUT_MS` of gateways and publishers: milliseconds, 1 to 600,000; default 10,000. */
export const PublishTimeoutMs = z.coerce.number().int().min(1).max(600_000).default(10_000)

/** The stream of commands that can never succeed, for operators to inspect. */
export const deadLetterStream = { name: 'PUBLISH_DEAD', subjects: ['publish.dead.>'] } as const

/** Header of a message in {@link deadLetterStream}: the reason, beside the headers of the command. */
export const deadLetterReasonHeader = 'Dead-Letter-Reason'

/** Name of the durable pull consumer that all publishers share. */
export const publisherConsumer = 'publisher'
