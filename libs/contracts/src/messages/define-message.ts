import type { z } from 'zod'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Defines a NATS subject and the schema of its messages, as JSON in UTF-8; `subject` is `""` for a reply, which goes to an
 * inbox. Unknown members are dropped, and new ones have to be optional: two releases may run at once, and messages in
 * streams outlive releases.
 */
export const defineMessage = <S extends z.ZodType>(message: { subject: string; schema: S }) => ({
  ...message,
  encode: (value: z.input<S>): Uint8Array => encoder.encode(JSON.stringify(value)),
  /** @throws {Error} for bytes that are not JSON or do not match the schema. */
  decode: (bytes: Uint8Array): z.output<S> => message.schema.parse(JSON.parse(decoder.decode(bytes))),
})
