import { z } from 'zod'

/** Gets of one question: of those with forms of usual length, the answers are read from the socket in one piece. */
export const maxGets = 16

/** Characters of all forms in the answers to one question: at most 192 KiB, which the gateway takes in one piece. */
export const maxGetFormsChars = 64 * 1024

/**
 * Gateway to forms, `POST /internal/organizations/{organizationId}/get-forms`: gets of one caller that arrived
 * together. Answered with 200 and {@link FormAnswers}, one for each get, in their order.
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

/** What a get of a form is answered with. */
export interface FormAnswer<Body> {
  status: number
  etag?: string | undefined
  /** JSON: the form, or why there is none; empty with 304. */
  body: Body
}

const decoder = new TextDecoder()

const Heads = z.array(z.strictObject({ status: z.int(), etag: z.string().optional() }).nullable())

/**
 * Lines: the heads as JSON, then each body, which nobody on the way has to read. Undefined stands for an answer that
 * was too long to go with the others: that get asks by itself.
 */
export const FormAnswers = {
  encode: (answers: readonly (FormAnswer<string> | undefined)[]): string => {
    const heads = answers.map((answer) => answer && { status: answer.status, etag: answer.etag })
    return [JSON.stringify(heads), ...answers.map((answer) => answer?.body ?? '')].join('\n')
  },
  /** @throws {Error} when the first line is not of the schema. */
  decode: <Bytes extends Uint8Array>(bytes: Bytes): (FormAnswer<Bytes> | undefined)[] => {
    let end = -1
    const nextLine = (): Bytes => {
      const start = end + 1
      end = bytes.indexOf(0x0a, start)
      if (end === -1) end = bytes.length
      return bytes.subarray(start, end) as Bytes
    }
    const heads = Heads.parse(JSON.parse(decoder.decode(nextLine())))
    return heads.map((head) => {
      const body = nextLine()
      return head ? { ...head, body } : undefined
    })
  },
}
