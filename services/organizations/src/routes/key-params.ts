import { z } from 'zod'

/** The path parameters of a key. */
export const KeyParams = z.object({ keyId: z.string() })
