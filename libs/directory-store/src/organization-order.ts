import type { OrderTerm } from '@fms/aip'

/** The fields by which a list of organizations can be sorted. */
export const organizationFields = ['createTime', 'name', 'slug'] as const
/** One of {@link organizationFields}. */
export type OrganizationField = (typeof organizationFields)[number]

/** Oldest first. `slug` is unique. */
export const defaultOrganizationOrder: readonly OrderTerm<OrganizationField>[] = [
  { field: 'createTime', descending: false },
  { field: 'slug', descending: false },
]
