import { z } from 'zod'

/** Different lists of one question. */
export const maxLists = 6

/** UTF-8 bytes of all lists in the answers to one question, which the gateway takes in one piece. */
export const maxListsBytes = 240 * 1024

/**
 * Gateway to forms, `POST /internal/organizations/{organizationId}/read-lists`: lists of one caller that arrived
 * together. Answered with 200 and an {@link AnswerBundle}, one for each list, in their order.
 */
export const ReadListsRequest = z.strictObject({
  lists: z
    .array(
      z.strictObject({
        /** As it came, unread. */
        query: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
        /** Of all that ask for this list. */
        requestIds: z.array(z.string()).min(1),
      }),
    )
    .min(1)
    .max(maxLists),
})
export type ReadListsRequest = z.infer<typeof ReadListsRequest>
