import { z } from 'zod'

/** Gets of one question: of those with forms of usual length, the answers are read from the socket in one piece. */
export const maxGets = 16

/** UTF-8 bytes of all forms in the answers to one question. */
export const maxGetFormsBytes = 64 * 1024

/**
 * Gateway to forms, `POST /internal/organizations/{organizationId}/get-forms`: gets of one caller that arrived
 * together. Answered with 200 and {@link AnswerBundle}, one for each get, in their order.
 */
export const GetFormsRequest = z.strictObject({
  gets: z
    .array(
      z.strictObject({
        /** Canonical id or public id, as the caller wrote it. */
        formRef: z.string(),
        requestId: z.string(),
        ifNoneMatch: z.string().optional(),
      }),
    )
    .min(1)
    .max(maxGets),
})
export type GetFormsRequest = z.infer<typeof GetFormsRequest>
