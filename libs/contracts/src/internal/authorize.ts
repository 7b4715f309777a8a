import { z } from 'zod'
import { Role } from '../organization.ts'
import { Uuid } from '../resource-names.ts'

/** Body of `POST /internal/authorize`, from the gateway to the organizations service: an API key and an organization. */
export const AuthorizeRequest = z.object({
  /** SHA-256 of the key, base64url. */
  keyHash: z.string(),
  /** A canonical id or a slug, as in the request; absent for paths without an organization. */
  organizationRef: z.string().optional(),
})
export type AuthorizeRequest = z.infer<typeof AuthorizeRequest>

/** The user of a valid key. `organization` is absent if none is requested, or the user is no member of it. */
export const AuthorizeResponse = z.object({
  userId: Uuid,
  keyId: Uuid,
  /** The first 8 characters of the key after `fms_`. */
  keyPrefix: z.string(),
  readOnly: z.boolean(),
  organization: z.object({ organizationId: Uuid, role: Role }).optional(),
})
export type AuthorizeResponse = z.infer<typeof AuthorizeResponse>

/** Response to `GET /internal/forms/{publicId}/organization`; `organizationId` is absent where there is no such form. */
export const FormOrganization = z.object({ organizationId: Uuid.optional() })

/** Path of the route of organizations that exchanges login codes, for requests of the gateway on its own behalf. */
export const sessionsPath = '/internal/sessions'
