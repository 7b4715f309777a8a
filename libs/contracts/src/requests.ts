import { z } from 'zod'
import { FormEvent, Sequence } from './event.ts'
import { Form } from './form.ts'
import { Flag, ValidateOnly, ValidateOnlyParameter } from './parts/flag.ts'
import { pageShape } from './parts/page.ts'
import { Uuid } from './resource-names.ts'
import { Revision, RevisionNote } from './revision.ts'
import { maxSafeInteger } from './text.ts'

const object = z.record(z.string(), z.unknown())

const safeRetries =
  'Makes retries safe (AIP-155): a request that is sent again with the same id, target and body is carried out once.'
const RequestId = Uuid.optional().describe(safeRetries)

/** Response header: `true` if the request was carried out before, so that the response is that of a repeat (AIP-155). */
export const replayedHeader = 'x-request-replayed'

/** Stands for an id that is not known yet, in dry runs. */
export const nilUuid = '00000000-0000-0000-0000-000000000000'

/** Body of a create. The service validates `form` after it has filled in the defaults. */
export const CreateFormRequest = z
  .strictObject({
    form: object,
    formId: Uuid.refine((id) => id !== nilUuid, { error: 'must not be the nil UUID' })
      .optional()
      .describe(
        'The id of the new form (AIP-133), unique in the organization. Default: the service chooses one.',
      ),
    requestId: RequestId,
    validateOnly: ValidateOnly,
  })
  .meta({ id: 'CreateFormRequest' })

export const CheckFormRequest = z.strictObject({ form: object }).meta({ id: 'CheckFormRequest' })

/** Body of an update: `form` is a JSON Merge Patch (RFC 7396). The service validates the merged draft. */
export const UpdateFormRequest = z
  .strictObject({ form: object, requestId: RequestId, validateOnly: ValidateOnly })
  .meta({ id: 'UpdateFormRequest' })

export const DeleteFormRequest = z
  .strictObject({
    requestId: RequestId,
    // Optional, so that the query may set it.
    validateOnly: ValidateOnly.unwrap().optional(),
  })
  .meta({ id: 'DeleteFormRequest' })
  .prefault({})
export type DeleteFormRequest = z.infer<typeof DeleteFormRequest>

export const PublishFormRequest = z
  .strictObject({
    requestId: Uuid.optional().describe(
      'Makes retries safe (AIP-155): a request with the same id publishes only once. Unique in the organization, letter case ignored.',
    ),
    note: RevisionNote.default('').describe('What the publish changes, or why: `note` of the revision.'),
    refuseBreaking: Flag.default(false).describe(
      'Publishes nothing if a change since the live revision orphans answers that respondents have already given: see `breaking` of a comparison.',
    ),
    validateOnly: ValidateOnly,
  })
  .meta({ id: 'PublishFormRequest' })
  .prefault({})

export const UnpublishFormRequest = z
  .strictObject({
    note: RevisionNote.default('').describe(
      'Why the form is taken down, for its event. At most 500 characters.',
    ),
    requestId: RequestId,
    validateOnly: ValidateOnly,
  })
  .meta({ id: 'UnpublishFormRequest' })
  .prefault({})

export const RollbackFormRequest = z
  .strictObject({ requestId: RequestId, validateOnly: ValidateOnly })
  .meta({ id: 'RollbackFormRequest' })
  .prefault({})

export const UndeleteFormRequest = z
  .strictObject({ requestId: RequestId, validateOnly: ValidateOnly })
  .meta({ id: 'UndeleteFormRequest' })
  .prefault({})

const parameter = z.string({ error: 'must be given once' }).optional()

/** The query of a route without parameters: rejects every parameter. */
export const NoQuery = z.strictObject({})

export const OpenApiQuery = z.strictObject({
  view: z
    .enum(['full', 'essential'], { error: 'must be full or essential, and given once' })
    .default('full')
    .describe('`essential`: ten operations and the schemas that they reach, at most 60 KB.'),
})

/** Query of a delete. It takes the members of the body too, since proxies may drop the body of a DELETE. */
export const DeleteFormQuery = z.strictObject({
  requestId: z
    .string({ error: 'must be given once' })
    .pipe(Uuid)
    .optional()
    .meta({
      format: 'uuid',
      description: `${safeRetries} Must match \`requestId\` of the body if both are given.`,
    }),
  validateOnly: ValidateOnlyParameter,
})

export type DeleteFormQuery = z.infer<typeof DeleteFormQuery>

/** The paging parameters as text (AIP-158). `libs/aip` parses their values. */
export const PageQuery = z.strictObject({
  pageSize: parameter.meta({
    type: 'integer',
    minimum: 0,
    maximum: maxSafeInteger,
    description:
      'Maximum number of items on the page. Default 10, also for 0; values above 1,000 mean 1,000.',
  }),
  pageToken: parameter.meta({
    description:
      '`nextPageToken` of the previous page. Requires the same `filter` and `orderBy`. Default: the first page.',
  }),
  skip: parameter.meta({
    type: 'integer',
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description: 'Number of items to skip from the start of the page; default 0.',
  }),
})
export type PageQuery = z.infer<typeof PageQuery>

const expression = z
  .string({ error: 'must be given once' })
  .refine((text) => text.length <= 2000 || [...text].length <= 2000, {
    error: 'must have at most 2000 characters',
  })
  .meta({ maxLength: 2000 })
  .default('')

export const ListQuery = PageQuery.extend({
  filter: expression.describe(
    'An AIP-160 expression on the fields of the list. In texts, `:` means "contains", and `*` after `=` is any text. `OR` has a higher precedence than `AND`.',
  ),
  orderBy: expression.describe(
    'Comma-separated fields, each optionally followed by ` asc` or ` desc` (AIP-132).',
  ),
})
export type ListQuery = z.infer<typeof ListQuery>

const readMask = expression.meta({
  description:
    'The members to return, as comma-separated paths such as `name,theme.primaryColor` (AIP-157). The response then has only these, even if the schema requires others. Elements of arrays cannot be named. `*`, the default, means all members.',
})

/** Query of a read of a form or revision. `libs/aip` parses the mask. */
export const GetQuery = z.strictObject({ readMask })

export const ListFormsQuery = ListQuery.extend({ readMask })

export const ListRevisionsQuery = PageQuery.extend({ readMask })

/** {@link ListQuery}, or `all=true` for a list without pages. */
export const ListOrganizationsQuery = ListQuery.extend({
  all: z.enum(['true', 'false'], { error: 'must be true or false, and given once' }).optional().meta({
    description:
      '`true` returns all organizations in one response. `filter` and `orderBy` are then ignored; `pageSize`, `pageToken` and `skip` are rejected.',
  }),
})

/** Decimal digits, 0 to 9007199254740991. */
const afterSequence = parameter
  .refine((text) => text === undefined || (/^[0-9]+$/.test(text) && Number(text) <= maxSafeInteger), {
    error: `must be a whole number from 0 to ${maxSafeInteger}, in decimal digits`,
  })
  .meta({ type: 'integer', minimum: 0, maximum: maxSafeInteger })

export const ListEventsQuery = ListQuery.extend({
  afterSequence: afterSequence.describe(
    'Only events after this position of the log. With 0, the request fails if any event has been removed. With a `pageToken`, send the same value as for the first page, or none. Default: all events that are in the log.',
  ),
})
export type ListEventsQuery = z.infer<typeof ListEventsQuery>

export const StreamEventsQuery = z.strictObject({
  filter: ListQuery.shape.filter,
  afterSequence: afterSequence.describe(
    'The stream begins after this position of the log. The header `Last-Event-ID` takes precedence. Default: the end of the log, so that only new events are sent.',
  ),
})

export const ListFormsResponse = z
  .strictObject({ ...pageShape, forms: z.array(Form) })
  .meta({ id: 'FormsPage', description: 'A page of forms.' })
export type ListFormsResponse = z.infer<typeof ListFormsResponse>

/** A page of revisions, newest first. */
export const ListRevisionsResponse = z
  .strictObject({ ...pageShape, revisions: z.array(Revision) })
  .meta({ id: 'RevisionsPage', description: 'A page of revisions, newest first.' })
export type ListRevisionsResponse = z.infer<typeof ListRevisionsResponse>

/** A page of events. Without `totalSize`, because a log is read by position. */
export const ListEventsResponse = z
  .strictObject({
    nextPageToken: pageShape.nextPageToken,
    oldestSequence: Sequence.describe(
      'Position of the oldest event in the log; `0000000000000001` for an empty log.',
    ),
    lastSequence: Sequence.describe(
      'Position of the newest event in the log; `0000000000000000` for an empty log. On the last page of an ascending list, continue with it as `afterSequence`.',
    ),
    events: z.array(FormEvent),
  })
  .meta({ id: 'EventsPage', description: 'A page of events.' })

export const EmptyResponse = z.strictObject({}).meta({ id: 'Empty' })
