import { isUuid } from '@fms/contracts'

/** The field and value by which to look up an organization: its id, or its slug. */
export const organizationKey = (ref: string) =>
  isUuid(ref)
    ? { field: 'organizationId' as const, value: ref.toLowerCase() }
    : { field: 'slug' as const, value: ref }

/** The field and value by which to look up a user: the id, or the e-mail address. */
export const userKey = (ref: string) => ({
  field: isUuid(ref) ? ('userId' as const) : ('email' as const),
  value: ref.toLowerCase(),
})
