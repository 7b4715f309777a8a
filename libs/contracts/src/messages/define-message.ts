import type { z } from 'zod'

/**
 * A NATS subject and the schema of its messages, as JSON in UTF-8. Unknown members are dropped, and new ones have to be
 * optional: two releases may run at once, and messages in streams outlive releases.
 */
export interface Message<S extends z.ZodType> {
  subject: string
  schema: S
  encode(value: z.input<S>): Uint8Array
  /** @throws {Error} for bytes that are not JSON or do not match the schema. */
  decode(bytes: Uint8Array): z.output<S>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** Defines a {@link Message}; `subject` is `""` for a reply, which goes to an inbox. */
export const defineMessage = <S extends z.ZodType>({
  subject,
  schema,
}: Pick<Message<S>, 'subject' | 'schema'>): Message<S> => ({
  subject,
  schema,
  encode: (value) => encoder.encode(JSON.stringify(value)),
  decode: (bytes) => schema.parse(JSON.parse(decoder.decode(bytes))),
})
