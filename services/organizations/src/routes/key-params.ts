import { z } from 'zod'

export const KeyParams = z.object({ keyId: z.string() })
