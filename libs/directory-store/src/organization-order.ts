import type { StoredOrganization } from './resources.ts'

/** The fields by which a list of organizations can be sorted. */
export const organizationFields = ['createTime', 'name', 'slug'] as const
/** One of {@link organizationFields}. */
export type OrganizationField = (typeof organizationFields)[number]

/** A field to sort by and its direction. */
export interface OrganizationOrderTerm {
  field: OrganizationField
  descending: boolean
}

/**
 * Completes an `orderBy` to a total order: appends `slug`, in the direction of the last field, unless it occurs, and
 * drops the fields after it, which have no effect. An empty `orderBy` means oldest first.
 */
export const completeOrder = (orderBy: readonly OrganizationOrderTerm[]): OrganizationOrderTerm[] => {
  const wanted = orderBy.length > 0 ? orderBy : [{ field: 'createTime' as const, descending: false }]
  const slugIndex = wanted.findIndex(({ field }) => field === 'slug')
  if (slugIndex >= 0) return wanted.slice(0, slugIndex + 1)
  return [...wanted, { field: 'slug', descending: wanted.at(-1)!.descending }]
}

/** A position in a list: the values of the fields of its complete order; times as milliseconds since the epoch. */
export type OrganizationPosition = (string | number)[]

/** The position of an organization in a list with a complete order. */
export const positionOf = (
  organization: Pick<StoredOrganization, OrganizationField>,
  order: readonly OrganizationOrderTerm[],
): OrganizationPosition =>
  order.map(({ field }) => (field === 'createTime' ? organization.createTime.getTime() : organization[field]))
