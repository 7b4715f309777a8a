import { invalidRequest } from '@fms/aip'
import { LogoUrl, OrganizationName, OrganizationSlug, Role, text, Uuid } from '@fms/contracts'
import { z } from 'zod'
import { API_KEY_PATTERN } from './api-key.ts'

/** A person. Letter case in an e-mail address makes no other person: it is kept in lower case. */
export const NewUser = z.strictObject({
  email: z.email({ error: 'must be an e-mail address' }).max(254).toLowerCase(),
})
export type NewUser = z.input<typeof NewUser>

export const NewOrganization = z.strictObject({
  name: OrganizationName,
  slug: OrganizationSlug,
  logo: LogoUrl.default(null),
  /** Any JSON value. */
  metadata: z.json().default(null),
})
export type NewOrganization = z.input<typeof NewOrganization>

/** What changes of an organization; fields that are absent stay as they are. */
export const OrganizationChange = z.strictObject({
  name: OrganizationName.optional(),
  slug: OrganizationSlug.optional(),
  logo: LogoUrl.optional(),
  /** Any JSON value; null for none. */
  metadata: z.json().optional(),
})
export type OrganizationChange = z.input<typeof OrganizationChange>

export const NewMember = z.strictObject({
  organizationId: Uuid,
  userId: Uuid,
  role: Role,
})
export type NewMember = z.input<typeof NewMember>

export const NewApiKey = z.strictObject({
  userId: Uuid,
  /** For people; at most 80 characters. */
  name: text(80).default(''),
  /** Refuses every write, whatever the user's role. */
  readOnly: z.boolean().default(false),
  /** From this instant on the key is refused; without it the key does not expire. */
  expireTime: z.date().optional(),
  /** The key's own text, where it is agreed beforehand; random when omitted. */
  key: z
    .string()
    .regex(API_KEY_PATTERN, { error: 'must be fms_ and 43 characters of A-Z, a-z, 0-9, _ and -' })
    .optional(),
})
export type NewApiKey = z.input<typeof NewApiKey>

/** What changes of an API key; fields that are absent stay as they are. */
export const ApiKeyChange = z.strictObject({
  /** For people; at most 80 characters. */
  name: text(80).optional(),
  /** From this instant on the key is refused: earlier or later than before. */
  expireTime: z.date().optional(),
  /** A key that only reads never gets the right to write. */
  readOnly: z.literal(true).optional(),
})
export type ApiKeyChange = z.input<typeof ApiKeyChange>

/**
 * What `schema` makes of `input`, with its defaults.
 *
 * @throws {ApiError} INVALID_REQUEST with every violation.
 */
export const checked = <Schema extends z.ZodType>(
  schema: Schema,
  input: z.input<Schema>,
): z.output<Schema> => {
  const { data, error } = schema.safeParse(input)
  if (error) {
    throw invalidRequest(
      error.issues.map(({ path, message }) => ({ field: path.join('.'), description: message })),
    )
  }
  return data
}

/**
 * The fields that a change names.
 *
 * @throws {ApiError} INVALID_REQUEST with every violation.
 */
export const changedFields = <Schema extends z.ZodType<object>>(
  schema: Schema,
  change: z.input<Schema>,
): z.output<Schema> => {
  const given = Object.entries(checked(schema, change)).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given) as z.output<Schema>
}
