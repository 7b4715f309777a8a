import type { CheckedFilter, OrderTerm, Position } from '@fms/aip'
import type { Role } from '@fms/contracts'
import type { z } from 'zod'

export interface User {
  userId: string
  /** E-mail address in lower case; unique. */
  email: string
  createTime: Date
  /** Time from which all keys of the user are invalid; absent for a user who is not disabled. */
  disableTime?: Date
}

export interface StoredOrganization {
  organizationId: string
  /** Unique; see `OrganizationSlug`. */
  slug: string
  /** 1 to 80 characters. */
  name: string
  /** An absolute http or https URL; null for none. */
  logo: string | null
  /** Any JSON value; null for none. */
  metadata: z.core.util.JSONType
  createTime: Date
}

export interface Member {
  organizationId: string
  userId: string
  role: Role
  /** Start of the membership. Unique among the memberships of a user: each new one is later than the others. */
  createTime: Date
}

export interface ListedMember extends Member {
  email: string
}

/** An API key without its text, which is not stored. */
export interface ApiKey {
  keyId: string
  /** The first 8 characters after `fms_`, by which people recognise a key. */
  prefix: string
  userId: string
  /** Description for people; at most 80 characters. */
  name: string
  /** Whether the key rejects writes, whatever the role of its user. */
  readOnly: boolean
  createTime: Date
  /** Time of a recent use, accurate to a minute; absent for an unused key. */
  lastUsedTime?: Date
  /** Time from which the key is invalid; absent for a key that does not expire. */
  expireTime?: Date
  revokeTime?: Date
}

export interface IssuedApiKey {
  key: string
  apiKey: ApiKey
}

/** Which page of a user's list to read (AIP-158). */
interface UserPageQuery {
  userId: string
  /** Start after this position: the `next` of an earlier page with the same order. */
  after?: Position
  /** Maximum number of items on the page; 1 or more. */
  limit: number
  /** Number of items to skip, counted from `after`; 0 or more. */
  skip: number
}

interface PageEnd {
  /** Position after which the next page starts; absent on the last page. */
  next?: Position
  totalSize: number
}

/** A page of the live keys of a user: neither revoked nor expired; newest first. */
export type ListOwnKeysQuery = UserPageQuery

export interface KeyPage extends PageEnd {
  keys: ApiKey[]
}

export interface Membership {
  organization: StoredOrganization
  role: Role
}

/** A valid key, and the organization that its user requests. */
export interface Authorization {
  key: ApiKey
  /** Absent if none is requested, if it does not exist, and if the user of the key is not a member of it. */
  organization?: { organizationId: string; role: Role }
}

/** The fields by which a list of organizations can be sorted. */
export const organizationFields = ['createTime', 'name', 'slug'] as const
export type OrganizationField = (typeof organizationFields)[number]

/** Oldest first. `slug` is unique. */
export const defaultOrganizationOrder: readonly OrderTerm<OrganizationField>[] = [
  { field: 'createTime', descending: false },
  { field: 'slug', descending: false },
]

export interface ListOrganizationsQuery extends UserPageQuery {
  filter?: CheckedFilter
  /** Empty for oldest first. `slug` breaks ties, in the direction of the last field. */
  orderBy: OrderTerm<OrganizationField>[]
}

export interface OrganizationPage extends PageEnd {
  organizations: StoredOrganization[]
}
