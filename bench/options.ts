import { parseArgs } from 'node:util'
import { z } from 'zod'
import { bareMongodbOperations, httpOperations } from './load/requests.ts'

export const usage = `npm run bench -- [OPTION…]

  --store NAME         sqlite (default), or mongodb: the product on MongoDB, beside a bare driver on the same engine
  --quick              1,000 forms, 16 connections, three short rounds: about three minutes
  --only LIST          operations, for example get,list: ${httpOperations.join(', ')};
                       on MongoDB ${bareMongodbOperations.join(', ')}
  --sizes LIST         forms of the organization (default: 1000,100000,1000000; on MongoDB 100)
  --connections LIST   default: 16,128; on MongoDB 4
  --rounds N           measurements of each cell, an odd number
  --seconds N          duration of each measurement
  --json PATH          file for the figures (default: bench/results/TIME.json)
  --chart PATH         file for the chart (default: beside the figures)
  --profile            write a CPU profile of each service beside the figures
`

const list = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((each) => each.trim()))
    .pipe(z.array(item).min(1))

const positive = z.coerce.number<string>().int().min(1)

const Options = z.object({
  store: z.enum(['sqlite', 'mongodb']).default('sqlite'),
  quick: z.boolean().default(false),
  only: list(z.enum(httpOperations)).optional(),
  sizes: list(positive).optional(),
  connections: list(positive).optional(),
  rounds: positive.refine((rounds) => rounds % 2 === 1, { error: 'must be odd' }).optional(),
  seconds: z.coerce.number<string>().min(0.2).optional(),
  json: z.string().optional(),
  chart: z.string().optional(),
  profile: z.boolean().default(false),
})
export type Options = z.infer<typeof Options>

/** Parses the command line. @throws {Error} naming the first invalid option. */
export const readOptions = (args: string[]): Options => {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    args,
    options: {
      store: text,
      quick: flag,
      only: text,
      sizes: text,
      connections: text,
      rounds: text,
      seconds: text,
      json: text,
      chart: text,
      profile: flag,
    },
  })
  const read = Options.safeParse(values)
  if (read.success) return withMeasuredOperations(read.data)
  const [{ path, message }] = read.error.issues as [z.core.$ZodIssue]
  throw new Error(`--${path[0]?.toString()}: ${message}`)
}

/** On MongoDB, only the operations of the bare server are measured. */
const withMeasuredOperations = (options: Options): Options => {
  const { store, only = bareMongodbOperations } = options
  if (store === 'sqlite') return options
  const other = only.find((operation) => !bareMongodbOperations.includes(operation))
  if (other) throw new Error(`--only: ${other} is not measured on MongoDB`)
  return { ...options, only: [...only] }
}
