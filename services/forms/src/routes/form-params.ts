import { z } from 'zod'

/** Paths as the gateway passes them on: the organization by its canonical id, the form as the caller wrote it. */
export const OrganizationParams = z.object({ organizationId: z.string() })
export const FormParams = OrganizationParams.extend({ formRef: z.string() })
export const RevisionParams = FormParams.extend({ revisionRef: z.string() })
