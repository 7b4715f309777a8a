import { z } from 'zod'
import { Uuid } from '../organization.ts'
import { defineMessage } from './define-message.ts'

/**
 * Event from a gateway to the other gateways: the number of requests that it accepted since its previous event, by key.
 *
 * Delivery: at most once. A gateway that misses an event accepts up to that many more requests in the current minute.
 */
export const RequestsCounted = defineMessage({
  subject: 'gateway.requests-counted',
  schema: z.object({
    /** Id of the sender, which ignores its own events. */
    gateway: z.string(),
    /**
     * Key id, number of requests, and milliseconds until the window of the key ends: a duration, since the clocks of
     * gateways differ.
     */
    counts: z.array(z.tuple([Uuid, z.int().positive(), z.int().min(0).max(60_000)])).max(1_000),
  }),
})
export type RequestsCounted = z.infer<typeof RequestsCounted.schema>
