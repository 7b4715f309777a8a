import { z } from 'zod'
import { Form } from './form.ts'
import { Uuid } from './organization.ts'
import { Revision } from './revision.ts'

const object = z.record(z.string(), z.unknown(), { error: 'must be an object' })

/** Every check runs and nothing is stored (AIP-163). */
const ValidateOnly = z.boolean({ error: 'must be true or false' }).default(false)

/** `form` is checked apart, once it is merged with the defaults. */
export const CreateFormRequest = z.strictObject({ form: object, validateOnly: ValidateOnly })
export type CreateFormRequest = z.infer<typeof CreateFormRequest>

/** `form` is a JSON Merge Patch (RFC 7396), checked once it is merged with the stored draft. */
export const UpdateFormRequest = z.strictObject({ form: object, validateOnly: ValidateOnly })
export type UpdateFormRequest = z.infer<typeof UpdateFormRequest>

/** No body at all means `{}`. */
export const DeleteFormRequest = z
  .strictObject({ validateOnly: z.boolean({ error: 'must be true or false' }).optional() })
  .prefault({})
export type DeleteFormRequest = z.infer<typeof DeleteFormRequest>

/** No body at all means `{}`. */
export const PublishFormRequest = z
  .strictObject({
    /** Makes a repeat safe (AIP-155); unique in its organization, letter case ignored. */
    requestId: Uuid.optional(),
    validateOnly: ValidateOnly,
  })
  .prefault({})
export type PublishFormRequest = z.infer<typeof PublishFormRequest>

/** One value of a query parameter; the same parameter twice is refused. */
const parameter = z.string({ error: 'must be given once' }).optional()

/** A route without query parameters. */
export const NoQuery = z.strictObject({})

/** Proxies may drop the body of a DELETE, so that the query can ask for a dry run, too. */
export const DeleteFormQuery = z.strictObject({
  validateOnly: z.enum(['true', 'false'], { error: 'must be true or false, and given once' }).optional(),
})

export type DeleteFormQuery = z.infer<typeof DeleteFormQuery>

/** Raw text of the paging parameters (AIP-158); `libs/aip` reads their values. */
export const PageQuery = z.strictObject({ pageSize: parameter, pageToken: parameter, skip: parameter })
export type PageQuery = z.infer<typeof PageQuery>

/** At most 2,000 characters. */
const expression = z
  .string({ error: 'must be given once' })
  .refine((text) => text.length <= 2000 || [...text].length <= 2000, {
    error: 'must have at most 2000 characters',
  })
  .default('')

/** Paging with a filter (AIP-160) and an order (AIP-132). */
export const ListQuery = PageQuery.extend({ filter: expression, orderBy: expression })
export type ListQuery = z.infer<typeof ListQuery>

export const ListOrganizationsQuery = ListQuery.extend({
  /** `true`: every membership at once, without paging. */
  all: z.enum(['true', 'false'], { error: 'must be true or false, and given once' }).optional(),
})
export type ListOrganizationsQuery = z.infer<typeof ListOrganizationsQuery>

const page = { nextPageToken: z.string(), totalSize: z.int() }

/** A page of forms (AIP-158); `nextPageToken` is empty on the last one. */
export const ListFormsResponse = z.strictObject({ ...page, forms: z.array(Form) })
export type ListFormsResponse = z.infer<typeof ListFormsResponse>

/** A page of revisions, newest first. */
export const ListRevisionsResponse = z.strictObject({ ...page, revisions: z.array(Revision) })
export type ListRevisionsResponse = z.infer<typeof ListRevisionsResponse>

export const DeleteFormResponse = z.strictObject({})
