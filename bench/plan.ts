import { parseArgs } from 'node:util'
import { z } from 'zod'
import { httpOperations, type Operation } from './load/requests.ts'

const usage = `npm run bench -- [OPTION…]

  --store NAME         sqlite (default), or mongodb: the product on MongoDB, beside a bare driver on the same engine
  --quick              1,000 forms, 16 connections, three short rounds and short warm-ups: about four minutes
  --only LIST          operations, for example get,list: ${httpOperations.join(', ')}
  --sizes LIST         forms of the organization (default: 1000,100000,1000000; on MongoDB 100)
  --connections LIST   default: 16,128; on MongoDB 4
  --json PATH          file for the figures (default: bench/results/TIME.json)
  --profile            write a CPU profile of each service beside the figures
`

const listOf = <T>(item: z.ZodType<T, string>) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(item))
const count = z.coerce.number<string>().int().positive()

const Options = z.object({
  store: z.enum(['sqlite', 'mongodb']).default('sqlite'),
  quick: z.boolean().default(false),
  only: listOf(z.enum(httpOperations)).optional(),
  sizes: listOf(count).optional(),
  connections: listOf(count).optional(),
  json: z.string().optional(),
  profile: z.boolean().default(false),
})
export type Options = z.infer<typeof Options>

/** The options of the command line. Prints the usage and exits when `--help` is given. */
export const readOptions = (): Options => {
  if (process.argv.includes('--help')) {
    process.stdout.write(usage)
    process.exit()
  }
  const isFlag = (name: string) => ['quick', 'profile'].includes(name)
  const names = Object.keys(Options.shape)
  const options = names.map((name) => [name, { type: isFlag(name) ? 'boolean' : 'string' }])
  const { data, error } = Options.safeParse(parseArgs({ options: Object.fromEntries(options) }).values)
  if (data) return data
  throw new Error(z.prettifyError(error))
}

/** One size of the organization and one number of connections, and how they are measured. */
export interface Setting {
  forms: number
  connections: number
  operations: readonly Operation[]
  rounds: number
  seconds: number
  /** Whether the baselines are measured, too. */
  isCompared: boolean
}

export interface Plan {
  operations: readonly Operation[]
  sizes: readonly number[]
  settings: Setting[]
  /** Settings of the lists of 1,000, which are measured last: their pages of 3 MB take memory. */
  longLists: Setting[]
  /** Requests of each operation that each side gets before its first measurement, so that V8 has compiled its code. */
  warmUpRequests: number
  /** Those of a side's first operation: V8 compiles most of the code that all share after 15,000 to 20,000 requests. */
  firstWarmUpRequests: number
  /** Whether pages of 4 MiB are requested at the end, to see their effect on memory. */
  hasLargePages: boolean
  /** How often `npm start` is timed, which is on SQLite. */
  starts: number
}

export const fewForms = 1_000
/** At this size only reads are measured. */
export const mostForms = 1_000_000

const longLists: readonly Operation[] = ['full list of 1000', 'light list of 1000']
const reads: readonly Operation[] = ['get', 'live', 'list', 'filtered list', 'search']
/** The organization has no published forms on MongoDB. */
const onMongodb: readonly Operation[] = [
  'get',
  'list',
  'filtered list',
  'search',
  'create',
  'patch',
  'publish',
]

/**
 * The settings of a run. The smallest size with the fewest connections is compared with the baselines and has the most
 * rounds; the other settings show how the product scales.
 */
export const planOf = (options: Options): Plan => {
  const { quick } = options
  const isSqlite = options.store === 'sqlite'
  const operations = (options.only ?? httpOperations).filter((each) => isSqlite || onMongodb.includes(each))
  // The engine of the MongoDB tests scans whole collections.
  const sizes = options.sizes ?? (isSqlite ? (quick ? [fewForms] : [fewForms, 100_000, mostForms]) : [100])
  const connections = options.connections ?? (isSqlite ? (quick ? [16] : [16, 128]) : [4])
  const [smallest, fewest] = [Math.min(...sizes), Math.min(...connections)]
  const settings = sizes.flatMap((forms) =>
    connections
      .filter((each) => options.connections || forms === smallest || each === fewest)
      .map((each) => ({
        forms,
        connections: each,
        operations: operations.filter(
          (operation) => (forms < mostForms || reads.includes(operation)) && !longLists.includes(operation),
        ),
        rounds: quick ? 3 : each === fewest ? 5 : 1,
        seconds: isSqlite ? (quick ? 0.7 : 1) : 2,
        isCompared: forms === smallest && each === fewest,
      })),
  )
  return {
    operations,
    sizes,
    settings,
    longLists: settings
      .filter(({ isCompared }) => isCompared)
      .map((setting) => ({
        ...setting,
        // A response can take a second.
        seconds: 2,
        operations: operations.filter((operation) => longLists.includes(operation)),
      })),
    // The engine of the MongoDB tests takes a hundred times longer.
    warmUpRequests: (isSqlite ? 10_000 : 1_000) / (quick ? 5 : 1),
    firstWarmUpRequests: isSqlite ? 30_000 : 1_000,
    hasLargePages: isSqlite && operations.includes('list'),
    starts: isSqlite ? (quick ? 1 : 3) : 0,
  }
}

/** Requests of the warm-up of an operation: a list of 1,000 forms counts as a hundred lists of ten. */
export const warmUpOf = (operation: Operation, requests: number): number =>
  longLists.includes(operation) ? requests / 100 : requests
