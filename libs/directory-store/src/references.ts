import { isUuid } from '@fms/contracts'

/** The field that a reference to an organization is looked up by, and the value it has there. */
export const organizationKey = (ref: string) =>
  isUuid(ref)
    ? { field: 'organizationId' as const, value: ref.toLowerCase() }
    : { field: 'slug' as const, value: ref }

/** The field that a reference to a user is looked up by, and the value it has there. */
export const userKey = (ref: string) => ({
  field: isUuid(ref) ? ('userId' as const) : ('email' as const),
  value: ref.toLowerCase(),
})
