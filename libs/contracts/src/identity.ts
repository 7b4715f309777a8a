import { z } from 'zod'
import { Role, Uuid } from './organization.ts'

/** The header that carries the signed identity token between our own services. */
export const identityHeader = 'x-fms-identity'

/** Who is calling, as the gateway vouches for it. */
export const Identity = z.object({
  userId: Uuid,
  /** Absent on paths that belong to no organization. */
  organizationId: Uuid.optional(),
  role: Role.optional(),
  /** The key reads only, whatever the role. */
  readOnly: z.boolean(),
})
export type Identity = z.infer<typeof Identity>

/** The gateway's own calls name the service instead of a user. */
export const ServiceIdentity = z.object({ service: z.literal('gateway') })
export type ServiceIdentity = z.infer<typeof ServiceIdentity>

/**
 * Gateway to organizations, `POST /internal/authorize`: whose key is it, and what is this organization to them?
 * Services of two releases run side by side: both ends drop members that they do not know.
 */
export const AuthorizeRequest = z.object({
  /** SHA-256 of the key, base64url. */
  keyHash: z.string(),
  /** A canonical id or a slug, as the caller wrote it. */
  organizationRef: z.string().optional(),
})
export type AuthorizeRequest = z.infer<typeof AuthorizeRequest>

/** A known key's user; `organization` is absent where none was asked for, where there is none, and for strangers. */
export const AuthorizeResponse = z.object({
  userId: Uuid,
  keyId: Uuid,
  readOnly: z.boolean(),
  organization: z.object({ organizationId: Uuid, role: Role }).optional(),
})
export type AuthorizeResponse = z.infer<typeof AuthorizeResponse>

/** Gateway to forms, `GET /internal/forms/{publicId}/owner`: the form's organization; absent where there is no such form. */
export const FormOwner = z.strictObject({ organizationId: Uuid.optional() })
export type FormOwner = z.infer<typeof FormOwner>
