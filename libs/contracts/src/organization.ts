import { z } from 'zod'
import { pageShape } from './parts/page.ts'
import { isUuid } from './resource-names.ts'
import { HttpUrl, Timestamp, text } from './text.ts'

const reservedSlugs = new Set(['new', 'settings', 'checkout', 'forms', 'oauth'])

export const OrganizationName = text(80, 1)

/** Lower-case letters and digits in groups joined by `-`, 3 to 48 characters; no reserved word, no UUID. */
export const OrganizationSlug = z
  .string()
  .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, {
    error: 'must be lower-case letters and digits in groups joined by single hyphens',
  })
  .min(3, { error: 'must have 3 to 48 characters' })
  .max(48, { error: 'must have 3 to 48 characters' })
  .refine((slug) => !reservedSlugs.has(slug), {
    error: `must not be one of ${[...reservedSlugs].join(', ')}`,
  })
  .refine((slug) => !isUuid(slug), { error: 'must not look like a UUID' })

/** An absolute http or https URL; null when no logo is configured. */
export const LogoUrl = HttpUrl.nullable()

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
    slug: OrganizationSlug.describe('Accepted in place of the id in paths.'),
  })
  .meta({
    id: 'Organization',
    description: 'An organization, which owns forms. Every response has all fields.',
  })
export type Organization = z.infer<typeof Organization>

/** Role of a member: a `viewer` reads; an `editor` or `owner` also writes and publishes. */
export const Role = z.enum(['viewer', 'editor', 'owner'])
export type Role = z.infer<typeof Role>

export const ListOrganizationsResponse = z
  .strictObject({ ...pageShape, organizations: z.array(Organization) })
  .meta({ id: 'OrganizationsPage', description: 'A page of organizations.' })

/** All organizations of the caller, in the order in which the caller joined them. */
export const AllOrganizationsResponse = z.strictObject({ organizations: z.array(Organization) }).meta({
  id: 'AllOrganizations',
  description: 'All organizations of the caller, in the order in which the caller joined them.',
})
