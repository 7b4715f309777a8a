import { z } from 'zod'
import { pageShape } from './page.ts'
import { HttpUrl, Timestamp, text } from './text.ts'

const forbiddenSlugs = new Set(['new', 'settings', 'checkout', 'forms', 'oauth'])

const uuidLike = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a reference is written as a canonical id (RFC 9562), in any letter case. */
export const isUuid = (ref: string): boolean => uuidLike.test(ref)

/** A UUID of any version, the nil and the max one included; lower case in answers. */
export const Uuid = z
  .string()
  .regex(uuidLike, { error: 'must be a UUID' })
  .toLowerCase()
  .meta({ format: 'uuid' })

/** What people call the organization: 1 to 80 characters. */
export const OrganizationName = text(80, 1)

/**
 * Lower-case letters and digits in groups joined by single hyphens, 3 to 48 characters; never a word that the
 * product keeps for itself, and never what looks like an id.
 */
export const OrganizationSlug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, {
    error: 'must be lower-case letters and digits in groups joined by single hyphens',
  })
  .min(3, { error: 'must have 3 to 48 characters' })
  .max(48, { error: 'must have 3 to 48 characters' })
  .refine((slug) => !forbiddenSlugs.has(slug), {
    error: `must not be one of ${[...forbiddenSlugs].join(', ')}`,
  })
  .refine((slug) => !isUuid(slug), { error: 'must not look like a UUID' })

/** Null when no logo is configured. */
export const LogoUrl = HttpUrl.nullable()

/** The owner of forms. All fields are present in every answer. */
export const Organization = z
  .strictObject({
    createTime: Timestamp,
    logo: LogoUrl.describe('Null when no logo is configured.'),
    metadata: z
      .json()
      .meta({ id: 'JsonValue' })
      .nullable()
      .describe('Any JSON value; null when none is stored.'),
    name: OrganizationName,
    path: z
      .string()
      .regex(/^organizations\/[0-9a-f-]{36}$/)
      .describe('`organizations/{organization_id}`'),
    slug: OrganizationSlug.describe('May stand for the id in paths.'),
  })
  .meta({ id: 'Organization', description: 'The owner of forms. All fields are present in every answer.' })
export type Organization = z.infer<typeof Organization>

/** What a member may do: `viewer` reads; `editor` and `owner` also write and publish. */
export const Role = z.enum(['viewer', 'editor', 'owner'])
export type Role = z.infer<typeof Role>

export const organizationPath = (organizationId: string) => `organizations/${organizationId}`

/** A page of the caller's organizations (AIP-158). */
export const ListOrganizationsResponse = z
  .strictObject({ ...pageShape, organizations: z.array(Organization) })
  .meta({ id: 'OrganizationsPage', description: 'A page of organizations.' })
export type ListOrganizationsResponse = z.infer<typeof ListOrganizationsResponse>

/** Every organization of the caller, in the order in which the memberships began. */
export const AllOrganizationsResponse = z.strictObject({ organizations: z.array(Organization) }).meta({
  id: 'AllOrganizations',
  description: 'Every organization of the caller, in the order in which the memberships began.',
})
export type AllOrganizationsResponse = z.infer<typeof AllOrganizationsResponse>
