import { z } from 'zod'
import { Uuid } from './resource-names.ts'
import { Count, Timestamp } from './text.ts'

/** The types of events that this release records. Readers ignore types that they do not know. */
export const eventTypes = [
  'form.created',
  'form.updated',
  'form.published',
  'form.unpublished',
  'form.rolledBack',
  'form.deleted',
  'form.undeleted',
  'form.purged',
  'form.imported',
] as const
export type EventType = (typeof eventTypes)[number]

/** Maximum size of an event as JSON in UTF-8. */
export const maxEventBytes = 4 * 1024

/** Digits of a sequence: those of the largest integer that every JSON parser reads exactly. */
const sequenceDigits = 16

/** Formats a position, a safe integer, as 16 decimal digits, so that texts sort like numbers. */
export const formatSequence = (sequence: number): string => `${sequence}`.padStart(sequenceDigits, '0')

/** Parses a position in an organization's log. @param sequence 16 decimal digits; not checked. */
export const parseSequence = (sequence: string): number => Number(sequence)

export const Sequence = z
  .string()
  .regex(new RegExp(`^[0-9]{${sequenceDigits}}$`), { error: `must be ${sequenceDigits} decimal digits` })
  .describe('A position in the log of the organization: 16 decimal digits, from `0000000000000001`.')

/** The API key of a change, as people tell keys apart. */
export const ActorKey = z
  .object({ id: Uuid, prefix: z.string().describe('The first 8 characters after `fms_`.') })
  .meta({ id: 'ActorKey' })

const UserActor = z
  .object({
    user: z.string().describe('`users/{user_id}`'),
    key: ActorKey.optional(),
  })
  .meta({ id: 'UserActor' })

const OperatorActor = z.object({ operator: z.literal(true) }).meta({ id: 'OperatorActor' })

/** Who made a change: a user with an API key, or an operator with formctl. */
export const Actor = z.union([UserActor, OperatorActor]).meta({ id: 'Actor' })
export type Actor = z.infer<typeof Actor>

const etag = 'The ETag of the draft'

/** The form of an event, and who changed what. Types may have further members, which readers ignore. */
export const EventData = z
  .looseObject({
    form: z.string().describe('`organizations/{organization_id}/forms/{form_id}`'),
    publicId: z.string(),
    name: z.string().describe('The name of the form after the change.'),
    etag: z.string().describe(`${etag} after the change; \`""\` after a delete.`),
    previousEtag: z.string().describe(`${etag} before the change; \`""\` for a new form.`),
    actor: Actor,
    httpRequestId: z.string().describe('`x-request-id` of the request; `""` where there was none.'),
    fields: z
      .array(z.string())
      .optional()
      .describe('Of `form.updated` and `form.rolledBack`: the top-level members of the form that changed.'),
    revision: z
      .string()
      .optional()
      .describe(
        'The path of a revision. Of `form.published`: the new one. Of `form.unpublished`: the one that was live. Of `form.rolledBack`: the one that the draft was taken from.',
      ),
    number: Count.optional().describe('The number of that revision.'),
    note: z
      .string()
      .optional()
      .describe(
        'Of `form.unpublished`: the `note` of the request. Cut off at the end if the event would exceed 4 KiB.',
      ),
    purgeTime: Timestamp.optional().describe(
      'Of `form.deleted`, and of `form.imported` for a deleted form: the end of the time in which the form can be restored. Absent if it cannot be restored.',
    ),
  })
  .meta({ id: 'EventData' })
export type EventData = z.infer<typeof EventData>

/** A change of a form, at most {@link maxEventBytes}: the same JSON in the API, in event streams and on NATS. */
export const FormEvent = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: Uuid.describe('The same wherever the event is seen, and on every repeat.'),
    source: z.string().describe('`/v2/organizations/{organization_id}`'),
    type: z
      .string()
      .meta({ examples: eventTypes })
      .describe(
        `${eventTypes.map((type) => `\`${type}\``).join(', ')}. Ignore the types that you do not know.`,
      ),
    subject: z.string().describe('The path of the form: `organizations/{organization_id}/forms/{form_id}`'),
    time: Timestamp.describe('Time of the change. Strictly increases for each form.'),
    datacontenttype: z.literal('application/json'),
    sequence: Sequence.describe(
      'Position in the log of the organization, without gaps: 16 decimal digits, from `0000000000000001`.',
    ),
    data: EventData,
  })
  .meta({ id: 'Event', description: 'A change of a form: CloudEvents 1.0 with the `sequence` extension.' })
export type FormEvent = z.infer<typeof FormEvent>
