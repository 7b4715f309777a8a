import { z } from 'zod'
import { Problem } from '../error.ts'
import { Uuid } from '../organization.ts'
import { defineMessage } from './define-message.ts'

/** What `If-Match` asks for: any state of the form, or one whose draft has one of these strong tags. */
export const IfMatch = z.union([z.literal('*'), z.array(z.string())])

/**
 * Command, gateway to publisher: freeze the draft as a revision and move `live` to it.
 *
 * Delivered at least once; the same `commandId` again changes nothing and gives the same reply.
 * Answered on the inbox named in the `Reply-Inbox` header, by {@link FormPublished}.
 */
export const PublishForm = defineMessage({
  subject: 'publish.form',
  schema: z.object({
    /** The caller's `requestId` where it sent one; unique in its organization. */
    commandId: Uuid,
    organizationId: Uuid,
    /** Canonical id or public id, as the caller wrote it. */
    formRef: z.string(),
    userId: Uuid,
    validateOnly: z.boolean(),
    /** Refuse another state of the draft. */
    ifMatch: IfMatch.optional(),
    /**
     * How long somebody waits for the reply, from when the stream took the command; milliseconds. It counts for a
     * command without {@link deadlineHeader} alone, as gateways of the release before send it.
     */
    timeoutMs: z.int(),
  }),
})
export type PublishForm = z.infer<typeof PublishForm.schema>

/** The gateway's inbox, one token a command. */
export const replyInboxHeader = 'Reply-Inbox'

/**
 * When the command's caller stops waiting, on the monotonic clock of its gateway; milliseconds. From then on the command
 * must not begin: docs/decisions/0018-publish-deadline.md.
 */
export const deadlineHeader = 'Publish-Deadline'

/** Reply of a gateway to an empty request on {@link clockInboxOf}: its monotonic clock, in milliseconds. */
export const GatewayClock = defineMessage({ subject: '', schema: z.object({ nowMs: z.number() }) })

/** @param replyInbox any inbox of the gateway: `_INBOX.gateway.{gateway}.{token}`. */
export const clockInboxOf = (replyInbox: string): string =>
  `${replyInbox.slice(0, replyInbox.lastIndexOf('.'))}.clock`

/** The caller's request id, for the log lines of every hop. */
export const requestIdHeader = 'x-request-id'

const Published = z.object({ outcome: z.literal('published'), etag: z.string() })
const Refused = z.object({ outcome: z.literal('refused'), problem: Problem })
const Outcome = defineMessage({ subject: '', schema: z.discriminatedUnion('outcome', [Published, Refused]) })

/** Reply to {@link PublishForm}: the form as the caller shall see it, in JSON, or why it was not published. */
export type FormPublished = (z.infer<typeof Published> & { formJson: string }) | z.infer<typeof Refused>

/**
 * Two lines: what became of it, and the form, which nobody on the way has to read. As a member of the first it would
 * be JSON within JSON, and too long for a message where the form is long.
 */
export const FormPublished = {
  encode: (reply: FormPublished): Uint8Array => {
    if (reply.outcome === 'refused') return Outcome.encode(reply)
    const { formJson, ...published } = reply
    return new TextEncoder().encode(`${JSON.stringify(published)}\n${formJson}`)
  },
  /** @throws {Error} when the first line is not JSON or not of the schema. */
  decode: (bytes: Uint8Array): FormPublished => {
    const end = bytes.indexOf(0x0a)
    const outcome = Outcome.decode(end === -1 ? bytes : bytes.subarray(0, end))
    if (outcome.outcome === 'refused') return outcome
    return { ...outcome, formJson: new TextDecoder().decode(bytes.subarray(end + 1)) }
  },
}

/** Empty message, publisher to itself through the stream: shows that commands can be stored. */
export const publishProbeSubject = 'publish.probe'

/** Where commands wait: a work queue on disk, so that the PubAck means accepted. */
export const publishStream = {
  name: 'PUBLISH',
  subjects: [PublishForm.subject, publishProbeSubject],
} as const

/** `PUBLISH_TIMEOUT_MS` of gateways and publishers: how long a caller may wait for a publish. Milliseconds. */
export const PublishTimeoutMs = z.coerce.number().int().min(1).max(600_000).default(10_000)

/** Commands that can never succeed, kept for people to look at. */
export const deadLetterStream = { name: 'PUBLISH_DEAD', subjects: ['publish.dead.>'] } as const

/** Why a command lies in {@link deadLetterStream}, as headers beside the command's own. */
export const deadLetterReasonHeader = 'Dead-Letter-Reason'

/** The durable pull consumer that all publishers share. */
export const publisherConsumer = 'publisher'
