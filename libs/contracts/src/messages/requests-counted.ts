import { z } from 'zod'
import { Uuid } from '../organization.ts'
import { defineMessage } from './define-message.ts'

/**
 * Event, from a gateway to all the others: how many requests it let through since it last said so, by key.
 *
 * Told at most once, and only what is new: who misses one lets that many more through in this minute, and no more.
 */
export const RequestsCounted = defineMessage({
  subject: 'gateway.requests-counted',
  schema: z.object({
    /** Who tells, so that it does not listen to itself. */
    gateway: z.string(),
    /**
     * Key id, requests, and how long the key's minute goes on, in milliseconds: a span and no time of day, since clocks
     * differ.
     */
    counts: z.array(z.tuple([Uuid, z.int().positive(), z.int().min(0).max(60_000)])).max(1_000),
  }),
})
export type RequestsCounted = z.infer<typeof RequestsCounted.schema>
