import { z } from 'zod'

/** Path parameters as the gateway forwards them: the organization's id, and the form reference of the caller. */
export const OrganizationParams = z.object({ organizationId: z.string() })
export const FormParams = OrganizationParams.extend({ formRef: z.string() })
export const RevisionParams = FormParams.extend({ revisionRef: z.string() })
export const EventParams = OrganizationParams.extend({ eventId: z.string() })
