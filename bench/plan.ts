import { z } from 'zod'
import { bareMongodbOperations, httpOperations, type Operation } from './load/requests.ts'
import { list, positive } from './run-command.ts'

export const usage = `npm run bench -- [OPTION…]

  --store NAME         sqlite (default), or mongodb: the product on MongoDB, beside a bare driver on the same engine
  --quick              1,000 forms, 16 connections, three short rounds and a short warm-up: about three minutes
  --only LIST          operations, for example get,list: ${httpOperations.join(', ')};
                       on MongoDB ${bareMongodbOperations.join(', ')}
  --sizes LIST         forms of the organization (default: 1000,100000,1000000; on MongoDB 100)
  --connections LIST   default: 16,128; on MongoDB 4
  --rounds N           measurements of each cell, an odd number
  --seconds N          duration of each measurement
  --json PATH          file for the figures (default: bench/results/TIME.json)
  --profile            write a CPU profile of each service beside the figures
`

/** The options of `npm run bench`. */
export const optionSchemas = {
  store: z.enum(['sqlite', 'mongodb']).default('sqlite'),
  quick: z.boolean().default(false),
  only: list(z.enum(httpOperations)).optional(),
  sizes: list(positive.int()).optional(),
  connections: list(positive.int()).optional(),
  rounds: positive
    .int()
    .refine((rounds) => rounds % 2 === 1, { error: 'must be odd' })
    .optional(),
  seconds: z.coerce.number<string>().min(0.2).optional(),
  json: z.string().optional(),
  profile: z.boolean().default(false),
}
export type Options = z.infer<z.ZodObject<typeof optionSchemas>>

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
  settings: Setting[]
  /** Settings of the lists of 1,000, which are measured last: their pages of 3 MB take memory. */
  longLists: Setting[]
  /** Requests of each operation that each side gets before its first measurement, so that V8 has compiled its code. */
  warmUpRequests: number
  /** Whether pages of 4 MiB are requested at the end, to see their effect on memory. */
  hasLargePages: boolean
  /** How often `npm start` is timed, which is on SQLite. */
  starts: number
}

export const fewForms = 1_000
const manyForms = 100_000
/** At this size only reads are measured. */
export const mostForms = 1_000_000

const longLists: readonly Operation[] = ['full list of 1000', 'light list of 1000']

const reads: readonly Operation[] = ['get', 'live', 'list', 'filtered list', 'search']

/** The engine of the MongoDB tests scans whole collections. */
const formsOnMongodb = 100

const defaultSizes = ({ store, quick }: Options): number[] => {
  if (store === 'mongodb') return [formsOnMongodb]
  return quick ? [fewForms] : [fewForms, manyForms, mostForms]
}

const defaultConnections = ({ store, quick }: Options): number[] => {
  if (store === 'mongodb') return [4]
  return quick ? [16] : [16, 128]
}

/** On MongoDB, the operations of the bare server only. @throws {Error} naming one that is not measured. */
const operationsOf = ({ store, only }: Options): readonly Operation[] => {
  const all: readonly Operation[] = store === 'mongodb' ? bareMongodbOperations : httpOperations
  const other = only?.find((operation) => !all.includes(operation))
  if (other) throw new Error(`--only: ${other} is not measured on MongoDB`)
  return only ?? all
}

/**
 * The settings of a run. The smallest size with the fewest connections is compared with the baselines and has the most
 * rounds; the other settings show how the product scales.
 */
export const planOf = (options: Options): Plan => {
  const { quick } = options
  const isSqlite = options.store === 'sqlite'
  const operations = operationsOf(options)
  const sizes = options.sizes ?? defaultSizes(options)
  const connections = options.connections ?? defaultConnections(options)
  const [smallest, fewest] = [Math.min(...sizes), Math.min(...connections)]
  const isChosen = (forms: number, each: number) =>
    options.connections !== undefined || forms === smallest || each === fewest
  const rounds = (forms: number, each: number) => {
    if (quick) return 3
    if (each !== fewest) return 1
    return forms === manyForms ? 3 : 5
  }
  const settings = sizes.flatMap((forms) =>
    connections
      .filter((each) => isChosen(forms, each))
      .map((each) => ({
        forms,
        connections: each,
        operations: operations.filter(
          (operation) => (forms < mostForms || reads.includes(operation)) && !longLists.includes(operation),
        ),
        rounds: options.rounds ?? rounds(forms, each),
        seconds: options.seconds ?? (isSqlite ? (quick ? 0.7 : 1) : 2),
        isCompared: forms === smallest && each === fewest,
      })),
  )
  return {
    operations,
    settings,
    longLists: settings
      .filter(({ isCompared }) => isCompared)
      .map((setting) => ({
        ...setting,
        // A response can take a second.
        seconds: Math.max(setting.seconds, 2),
        operations: operations.filter((operation) => longLists.includes(operation)),
      })),
    // The engine of the MongoDB tests takes a hundred times longer.
    warmUpRequests: (isSqlite ? 10_000 : 1_000) / (quick ? 5 : 1),
    hasLargePages: isSqlite && operations.includes('list'),
    starts: isSqlite ? (quick ? 1 : 3) : 0,
  }
}

/** Requests of the warm-up of an operation: a list of 1,000 forms counts as a hundred lists of ten. */
export const warmUpOf = (operation: Operation, requests: number): number =>
  longLists.includes(operation) ? requests / 100 : requests
