import { z } from 'zod'
import { Form } from './form.ts'
import { Uuid } from './organization.ts'
import { pageShape } from './page.ts'
import { Revision } from './revision.ts'
import { maxSafeInteger } from './text.ts'

const object = z.record(z.string(), z.unknown(), { error: 'must be an object' })

/** Every check runs and nothing is stored (AIP-163). */
const dryRun = 'Every check runs and nothing is stored.'
const ValidateOnly = z.boolean({ error: 'must be true or false' }).default(false).describe(dryRun)

/** `form` is checked apart, once it is merged with the defaults. */
export const CreateFormRequest = z
  .strictObject({ form: object, validateOnly: ValidateOnly })
  .meta({ id: 'CreateFormRequest' })
export type CreateFormRequest = z.infer<typeof CreateFormRequest>

/** `form` is a JSON Merge Patch (RFC 7396), checked once it is merged with the stored draft. */
export const UpdateFormRequest = z
  .strictObject({ form: object, validateOnly: ValidateOnly })
  .meta({ id: 'UpdateFormRequest' })
export type UpdateFormRequest = z.infer<typeof UpdateFormRequest>

/** No body at all means `{}`. */
export const DeleteFormRequest = z
  .strictObject({
    validateOnly: z.boolean({ error: 'must be true or false' }).optional().describe(dryRun),
  })
  .meta({ id: 'DeleteFormRequest' })
  .prefault({})
export type DeleteFormRequest = z.infer<typeof DeleteFormRequest>

/** No body at all means `{}`. */
export const PublishFormRequest = z
  .strictObject({
    requestId: Uuid.optional().describe(
      'Makes a repeat safe (AIP-155): unique in its organization, letter case ignored.',
    ),
    validateOnly: ValidateOnly,
  })
  .meta({ id: 'PublishFormRequest' })
  .prefault({})
export type PublishFormRequest = z.infer<typeof PublishFormRequest>

/** One value of a query parameter; the same parameter twice is refused. */
const parameter = z.string({ error: 'must be given once' }).optional()

/** A route without query parameters. */
export const NoQuery = z.strictObject({})

/** Proxies may drop the body of a DELETE, so that the query can ask for a dry run, too. */
export const DeleteFormQuery = z.strictObject({
  validateOnly: z
    .enum(['true', 'false'], { error: 'must be true or false, and given once' })
    .optional()
    .describe(`${dryRun} It has to agree with the body, where that says something.`),
})

export type DeleteFormQuery = z.infer<typeof DeleteFormQuery>

/** Raw text of the paging parameters (AIP-158); `libs/aip` reads their values. */
export const PageQuery = z.strictObject({
  pageSize: parameter.meta({
    type: 'integer',
    minimum: 0,
    maximum: maxSafeInteger,
    description: 'Items on a page at most. 0, or none given, means 10; more than 1,000 means 1,000.',
  }),
  pageToken: parameter.meta({
    description:
      '`nextPageToken` of the page before, with the same filter and order. None given: the first page.',
  }),
  skip: parameter.meta({
    type: 'integer',
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description: 'Items to leave out, counted from where the token points; none by default.',
  }),
})
export type PageQuery = z.infer<typeof PageQuery>

/** At most 2,000 characters. */
const expression = z
  .string({ error: 'must be given once' })
  .refine((text) => text.length <= 2000 || [...text].length <= 2000, {
    error: 'must have at most 2000 characters',
  })
  .meta({ maxLength: 2000 })
  .default('')

/** Paging with a filter (AIP-160) and an order (AIP-132). */
export const ListQuery = PageQuery.extend({
  filter: expression.describe(
    'An AIP-160 expression over the fields of the list. `OR` binds tighter than `AND`.',
  ),
  orderBy: expression.describe(
    'Fields separated by commas, each with ` asc` or ` desc` if you like (AIP-132).',
  ),
})
export type ListQuery = z.infer<typeof ListQuery>

export const ListOrganizationsQuery = ListQuery.extend({
  all: z.enum(['true', 'false'], { error: 'must be true or false, and given once' }).optional().meta({
    description:
      '`true`: every organization at once. Then `filter` and `orderBy` are ignored, and `pageSize`, `pageToken` and `skip` are refused.',
  }),
})
export type ListOrganizationsQuery = z.infer<typeof ListOrganizationsQuery>

/** A page of forms (AIP-158); `nextPageToken` is empty on the last one. */
export const ListFormsResponse = z
  .strictObject({ ...pageShape, forms: z.array(Form) })
  .meta({ id: 'FormsPage', description: 'A page of forms.' })
export type ListFormsResponse = z.infer<typeof ListFormsResponse>

/** A page of revisions, newest first. */
export const ListRevisionsResponse = z
  .strictObject({ ...pageShape, revisions: z.array(Revision) })
  .meta({ id: 'RevisionsPage', description: 'A page of revisions, newest first.' })
export type ListRevisionsResponse = z.infer<typeof ListRevisionsResponse>

/** Nothing to tell. */
export const DeleteFormResponse = z.strictObject({}).meta({ id: 'Empty' })
