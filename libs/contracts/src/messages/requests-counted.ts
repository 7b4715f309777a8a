import { z } from 'zod'
import { Uuid } from '../resource-names.ts'
import { defineMessage } from './define-message.ts'

/** Event between gateways: requests accepted since the last event, by key. At most once: a lost event loosens the limit. */
export const RequestsCounted = defineMessage({
  subject: 'gateway.requests-counted',
  schema: z.object({
    /** Id of the sender, which ignores its own events. */
    gateway: z.string(),
    /** Key id, requests, and milliseconds until the key's window ends: a duration, since the clocks of gateways differ. */
    counts: z.array(z.tuple([Uuid, z.int().positive(), z.int().min(0).max(60_000)])).max(1_000),
  }),
})
export type RequestsCounted = z.infer<typeof RequestsCounted.schema>
