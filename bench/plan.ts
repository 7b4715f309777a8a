import { httpOperations, type Operation } from './load/requests.ts'
import type { Options } from './options.ts'

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
  /** Duration of the warm-up before each measurement. */
  warmUpSeconds: number
  /** Duration of the warm-up in the first round: longer, because V8 is still compiling. */
  firstWarmUpSeconds: number
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

/**
 * The settings of a run. The smallest size with the fewest connections is compared with the baselines and has the most
 * rounds; the other settings show how the product scales.
 */
export const planOf = (options: Options): Plan => {
  const { quick } = options
  const isSqlite = options.store === 'sqlite'
  const operations = options.only ?? httpOperations
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
    warmUpSeconds: quick ? 0.25 : 0.5,
    firstWarmUpSeconds: quick ? 1 : 2,
    hasLargePages: isSqlite && operations.includes('list'),
    starts: isSqlite ? (quick ? 1 : 3) : 0,
  }
}
