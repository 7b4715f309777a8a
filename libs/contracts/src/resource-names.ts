import { z } from 'zod'

const uuidLike = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a reference has the format of a canonical id: a UUID (RFC 9562) in any letter case. */
export const isUuid = (ref: string): boolean => uuidLike.test(ref)

/** A UUID of any version, including nil and max (RFC 9562). Parsing converts it to lower case. */
export const Uuid = z
  .string()
  .regex(uuidLike, { error: 'must be a UUID' })
  .toLowerCase()
  .meta({ format: 'uuid' })

/** The resource name of an organization: `organizations/{organizationId}` (AIP-122). */
export const organizationPath = (organizationId: string) => `organizations/${organizationId}`

/** The ids of a form and its organization, as canonical UUIDs. */
export const FormPath = z.strictObject({ organizationId: Uuid, formId: Uuid })
export type FormPath = z.infer<typeof FormPath>

/** The resource name of a form: `organizations/{organizationId}/forms/{formId}` (AIP-122). */
export const formPath = ({ organizationId, formId }: FormPath) =>
  `organizations/${organizationId}/forms/${formId}`

/** Whether a form reference has the format of a public id: 10 letters and digits. */
export const isPublicId = (ref: string): boolean => /^[A-Za-z0-9]{10}$/.test(ref)
