import type { StoredOrganization } from './directory-store.ts'

/** The fields that a list of organizations can be sorted by. */
export const organizationFields = ['createTime', 'name', 'slug'] as const
export type OrganizationField = (typeof organizationFields)[number]

export interface OrganizationOrderTerm {
  field: OrganizationField
  descending: boolean
}

/**
 * The order that a list really has: `slug` breaks the ties in the direction of the last field, and what follows a slug
 * decides nothing. An empty `orderBy` is oldest first.
 */
export const completeOrder = (orderBy: readonly OrganizationOrderTerm[]): OrganizationOrderTerm[] => {
  const wanted = orderBy.length > 0 ? orderBy : [{ field: 'createTime' as const, descending: false }]
  const slugIndex = wanted.findIndex(({ field }) => field === 'slug')
  if (slugIndex >= 0) return wanted.slice(0, slugIndex + 1)
  return [...wanted, { field: 'slug', descending: wanted.at(-1)!.descending }]
}

/** A place in a list: the values of its complete order's fields there; times as milliseconds since the epoch. */
export type OrganizationPosition = (string | number)[]

export const positionOf = (
  organization: Pick<StoredOrganization, OrganizationField>,
  order: readonly OrganizationOrderTerm[],
): OrganizationPosition =>
  order.map(({ field }) => (field === 'createTime' ? organization.createTime.getTime() : organization[field]))
