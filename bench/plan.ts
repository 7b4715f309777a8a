import type { Options } from './options.ts'
import type { Operation } from './requests.ts'

/** A size of the organization and a number of connections, and how long they are looked at. */
export interface Setting {
  forms: number
  connections: number
  rounds: number
  seconds: number
}

export interface Plan {
  operations: readonly Operation[]
  settings: Setting[]
  /** Before each measurement; the first of each cell gets longer, for the compilers of V8. */
  warmUpSeconds: number
  firstWarmUpSeconds: number
  /** How often `npm start` is timed. */
  starts: number
}

/** What most clients see: measured longest, and what the targets are about. */
export const mainSetting = { forms: 1_000, connections: 16 }
export const manyForms = 100_000

/** Most rounds go to what a target compares; the rest shows that nothing breaks there. */
export const planOf = (options: Options): Plan => {
  const { quick, only: operations } = options
  const sizes = options.sizes ?? (quick ? [1_000] : [1_000, 10_000, manyForms])
  const connections = options.connections ?? (quick ? [16] : [16, 128])
  const rounds = (forms: number, connections: number) => {
    if (quick) return 3
    if (connections !== mainSetting.connections) return 1
    return forms === mainSetting.forms || forms === manyForms ? 5 : 1
  }
  const settings = sizes.flatMap((forms) =>
    connections.map((each) => ({
      forms,
      connections: each,
      rounds: options.rounds ?? rounds(forms, each),
      seconds: options.seconds ?? (quick ? 0.7 : 2),
    })),
  )
  return {
    operations,
    settings,
    warmUpSeconds: quick ? 0.25 : 0.5,
    firstWarmUpSeconds: quick ? 1 : 2,
    starts: quick ? 1 : 3,
  }
}
