import { z } from 'zod'

/** What one of several requests that went together is answered with. */
export interface BundledAnswer<Body> {
  status: number
  etag?: string | undefined
  /** JSON; empty with 304. */
  body: Body
}

const decoder = new TextDecoder()

const Heads = z.array(z.strictObject({ status: z.int(), etag: z.string().optional() }).nullable())

/**
 * Answers to requests that went together, in their order. Lines: the heads as JSON, then each body, which nobody on the
 * way has to read. Undefined stands for a request that is to ask by itself.
 */
export const AnswerBundle = {
  mediaType: 'application/x-ndjson',
  encode: (answers: readonly (BundledAnswer<string> | undefined)[]): string => {
    const heads = answers.map((answer) => answer && { status: answer.status, etag: answer.etag })
    return [JSON.stringify(heads), ...answers.map((answer) => answer?.body ?? '')].join('\n')
  },
  /** @throws {Error} when the first line is not of the schema. */
  decode: <Bytes extends Uint8Array>(bytes: Bytes): (BundledAnswer<Bytes> | undefined)[] => {
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
