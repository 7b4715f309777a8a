import type { z } from 'zod'

/**
 * A subject and what travels on it. Both ends import this and nothing of each other.
 *
 * Schemas are `z.object`, which drops members that it does not know: releases run side by side, and messages outlive
 * them in streams. New members are optional.
 */
export interface Message<S extends z.ZodType> {
  subject: string
  schema: S
  encode(value: z.input<S>): Uint8Array
  /** @throws {Error} when the bytes are not JSON or not of the schema. */
  decode(bytes: Uint8Array): z.output<S>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

export const defineMessage = <S extends z.ZodType>({
  subject,
  schema,
}: {
  subject: string
  schema: S
}): Message<S> => ({
  subject,
  schema,
  encode: (value) => encoder.encode(JSON.stringify(value)),
  decode: (bytes) => schema.parse(JSON.parse(decoder.decode(bytes))),
})
