import { invalidRequest, toFieldViolations } from '@fms/aip'
import { LogoUrl, OrganizationName, OrganizationSlug, Role, text, Uuid } from '@fms/contracts'
import { z } from 'zod'
import { API_KEY_PATTERN } from './api-key.ts'

/** Input for a new user. The e-mail address, at most 254 characters, is converted to lower case. */
export const NewUser = z.strictObject({
  email: z
    .email({ error: 'must be an e-mail address' })
    .max(254, { error: 'must have at most 254 characters' })
    .toLowerCase(),
})
export type NewUser = z.input<typeof NewUser>

export const NewOrganization = z.strictObject({
  name: OrganizationName,
  slug: OrganizationSlug,
  logo: LogoUrl.default(null),
  metadata: z.json().default(null),
})
export type NewOrganization = z.input<typeof NewOrganization>

/** Changes to an organization. Absent fields stay unchanged. */
export const OrganizationChange = z.strictObject({
  name: OrganizationName.optional(),
  slug: OrganizationSlug.optional(),
  logo: LogoUrl.optional(),
  metadata: z.json().optional(),
})
export type OrganizationChange = z.input<typeof OrganizationChange>

/** Input for a new member, and for another role of a member. */
export const NewMember = z.strictObject({
  organizationId: Uuid,
  userId: Uuid,
  role: Role,
})
export type NewMember = z.input<typeof NewMember>

export const NewApiKey = z.strictObject({
  userId: Uuid,
  name: text(80).default(''),
  readOnly: z.boolean().default(false),
  expireTime: z.date().optional(),
  /** The text of the key; random by default. */
  key: z
    .string()
    .regex(API_KEY_PATTERN, { error: 'must be fms_ and 43 characters of A-Z, a-z, 0-9, _ and -' })
    .optional(),
})
export type NewApiKey = z.input<typeof NewApiKey>

/** Input for a new API key of a user's own, by the API. */
export const NewOwnKey = NewApiKey.omit({ key: true }).extend({
  /** A second create or rotation of the user with the same id is rejected. */
  requestId: Uuid.optional(),
})
export type NewOwnKey = z.input<typeof NewOwnKey>

export const ApiKeyChange = z.strictObject({
  name: text(80).optional(),
  /** Time from which the key is invalid, earlier or later than before. */
  expireTime: z.date().optional(),
  /** Makes the key read-only, which cannot be undone. */
  readOnly: z.literal(true).optional(),
})
export type ApiKeyChange = z.input<typeof ApiKeyChange>

/** Parses an input, and fills in defaults. @throws {ApiError} INVALID_REQUEST with all violations. */
export const parseInput = <Schema extends z.ZodType>(
  schema: Schema,
  input: z.input<Schema>,
): z.output<Schema> => {
  const { data, error } = schema.safeParse(input)
  if (error) {
    throw invalidRequest(toFieldViolations(error))
  }
  return data
}

/** Like {@link parseInput}, without undefined fields. */
export const parseChange = <Schema extends z.ZodType<object>>(
  schema: Schema,
  change: z.input<Schema>,
): z.output<Schema> => {
  const given = Object.entries(parseInput(schema, change)).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as z.output<Schema>
}
