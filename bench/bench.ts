/** `npm run bench`: measures the product and its baselines in one run. */
import cliProgress from 'cli-progress'
import { type LoadGenerator, startLoadGenerator } from './load/load-generator.ts'
import { measure, measureStart, probe } from './load/measure.ts'
import type { Operation } from './load/requests.ts'
import { type Options, optionSchemas, type Plan, planOf, type Setting, usage, warmUpOf } from './plan.ts'
import { afterConnections, afterLargePages, type MemoryAfter, type Results } from './report/results.ts'
import { reportFilesOf, writeReport } from './report/write-report.ts'
import { runCommand } from './run-command.ts'
import { memoryOf, type Side } from './sides/processes.ts'
import { type Sides, startSides } from './sides/start-sides.ts'

const bench = async (options: Options) => {
  const files = reportFilesOf(options)
  const plan = planOf(options)
  const sizes = [...new Set(plan.settings.map(({ forms }) => forms))]

  process.stderr.write('starting the sides and filling their stores ...\n')
  await using sides = await startSides({
    sizes,
    operations: plan.operations,
    store: options.store,
    ...(options.profile && { profiles: files.profiles }),
  })
  const allSides = sizes.flatMap((forms) => sides.at(forms).map((side) => ({ side, forms })))
  for (const { side } of allSides) await probeAll(side, plan.operations)

  const { engine } = sides
  const results: Results = {
    measurements: [],
    memory: [],
    startMs: [],
    warmUpRequests: plan.warmUpRequests,
    engine,
  }
  const recordMemory = (after: string) =>
    results.memory.push(...allSides.flatMap(({ side, forms }) => memoryOfSide(side, forms, after)))
  {
    await using generator = startLoadGenerator()
    for (const [connections, settings] of Map.groupBy(plan.settings, (setting) => setting.connections)) {
      results.measurements.push(...(await measureAll(generator, sides, { ...plan, settings })))
      recordMemory(afterConnections(connections))
    }
    if (plan.hasLargePages) {
      const [product] = sides.at(Math.min(...sizes)) as [Side]
      await generator.run({ ...product.load('large pages', largePageConnections), seconds: largePageSeconds })
      results.memory.push(...memoryOfSide(product, Math.min(...sizes), afterLargePages))
    }
    results.measurements.push(...(await measureAll(generator, sides, { ...plan, settings: plan.longLists })))
  }
  for (let number = 0; number < plan.starts; number++) results.startMs.push(await measureStart())
  writeReport(results, options, files)
}

/** The operations of which a side has had its first warm-up. */
const warmedUp = new WeakMap<Side, Set<Operation>>()

/** After its first measurement, an operation needs a twentieth of the warm-up: the caches of the CPU are cold. */
const shareOfLaterWarmUps = 20

const largePageConnections = 64
const largePageSeconds = 5

const probeAll = async (side: Side, operations: readonly Operation[]) => {
  for (const operation of operations) {
    if (!side.operations.includes(operation)) continue
    const load = side.load(operation, 1)
    if (load.kind === 'http') await probe(load)
  }
}

/**
 * Measures round by round. Within a round, all sides and settings of one operation follow each other directly, so that
 * a temporary slowdown of the machine affects all of them.
 */
const measureAll = async (
  generator: LoadGenerator,
  sides: Sides,
  { operations, settings, warmUpRequests }: Plan,
): Promise<Results['measurements']> => {
  const steps = stepsOf(sides, operations, settings)
  using progress = startProgress(steps.length)
  const measurements: Results['measurements'] = []
  for (const { side, operation, setting, round } of steps) {
    const done = warmedUp.getOrInsertComputed(side, () => new Set())
    const requests = warmUpOf(operation, warmUpRequests) / (done.has(operation) ? shareOfLaterWarmUps : 1)
    done.add(operation)
    measurements.push(await measure(generator, side, operation, setting, Math.ceil(requests), round))
    progress.step(`${operation} ${side.name}`)
  }
  return measurements
}

/** Every measurement of the settings, in the order in which they run. */
const stepsOf = (sides: Sides, operations: readonly Operation[], settings: readonly Setting[]) => {
  const rounds = Math.max(...settings.map(({ rounds }) => rounds))
  return Array.from({ length: rounds }, (_, index) => index + 1).flatMap((round) =>
    operations.flatMap((operation) =>
      settings
        .filter((setting) => round <= setting.rounds && setting.operations.includes(operation))
        .flatMap((setting) =>
          sides
            .at(setting.forms)
            .filter((side) => setting.isCompared || side.name === 'product')
            .filter((side) => side.operations.includes(operation))
            .map((side) => ({ side, operation, setting, round })),
        ),
    ),
  )
}

const memoryOfSide = (side: Side, forms: number, after: string): MemoryAfter[] =>
  Object.entries(side.pids()).flatMap(([process, pids]) =>
    pids.map((pid) => ({ side: side.name, forms, process, after, ...memoryOf(pid) })),
  )

/** A progress bar on a terminal; nothing in a log file. */
const startProgress = (total: number): Disposable & { step(what: string): void } => {
  if (!process.stderr.isTTY) return { step: () => {}, [Symbol.dispose]: () => {} }
  const bar = new cliProgress.SingleBar(
    {
      format: 'measuring {bar} {value} of {total}, {duration_formatted} | {what}',
      barsize: 30,
      linewrap: true,
    },
    cliProgress.Presets.shades_classic,
  )
  bar.start(total, 0, { what: '' })
  return { step: (what) => bar.increment({ what }), [Symbol.dispose]: () => bar.stop() }
}

await runCommand('npm run bench', usage, optionSchemas, bench)
