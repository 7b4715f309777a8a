import { z } from 'zod'
import { ActorKey } from '../event.ts'
import { Role } from '../organization.ts'
import { Uuid } from '../resource-names.ts'

/** Header of requests between services: the signed identity token. */
export const identityHeader = 'x-fms-identity'

/** Header of responses to patches of drafts over 64 KiB, refusals included: further requests for the form are expensive. */
export const expensiveHeader = 'x-fms-expensive'

/** The authenticated caller, as the gateway states it in the identity token. */
export const Identity = z.object({
  userId: Uuid,
  /** Absent for paths without an organization. */
  organizationId: Uuid.optional(),
  role: Role.optional(),
  /** Whether the API key rejects writes, whatever the role. */
  readOnly: z.boolean(),
  key: ActorKey,
})
export type Identity = z.infer<typeof Identity>

/** The identity of the gateway in requests that it sends on its own behalf. */
export const ServiceIdentity = z.object({ service: z.literal('gateway') })
export type ServiceIdentity = z.infer<typeof ServiceIdentity>
