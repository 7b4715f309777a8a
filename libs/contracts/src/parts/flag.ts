import { z } from 'zod'

export const Flag = z.boolean({ error: 'must be true or false' })

const dryRun = 'Runs every check and stores nothing.'

/** `validateOnly` in the body of a request (AIP-163). */
export const ValidateOnly = Flag.describe(dryRun).default(false)

/** `validateOnly` in the query of a delete, since proxies may drop its body. */
export const ValidateOnlyParameter = z
  .enum(['true', 'false'], { error: 'must be true or false, and given once' })
  .optional()
  .describe(`${dryRun} Must match \`validateOnly\` of the body if both are given.`)
