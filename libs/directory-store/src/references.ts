import { isUuid } from '@fms/contracts'

/** The condition for an organization: its id, or its slug. */
export const whereOrganization = (ref: string): { organizationId: string } | { slug: string } =>
  isUuid(ref) ? { organizationId: ref.toLowerCase() } : { slug: ref }

/** The condition for a user: the id, or the e-mail address. */
export const whereUser = (ref: string): { userId: string } | { email: string } =>
  isUuid(ref) ? { userId: ref.toLowerCase() } : { email: ref.toLowerCase() }
