/** `npm run bench`: measures the product and its baselines in one run. */
import type { Operation } from './load/requests.ts'
import { type LoadGenerator, measure, measureStart, probe, startLoadGenerator } from './measure.ts'
import { type Plan, planOf, readOptions, type Setting, warmUpOf } from './plan.ts'
import { afterLargePages, type MemoryAfter, type Results, reportFilesOf, writeReport } from './report.ts'
import { memoryOf, type Side } from './sides/processes.ts'
import { type Sides, startSides } from './sides/start-sides.ts'

/** The operations of which a side has had its first warm-up. */
const warmedUp = new WeakMap<Side, Set<Operation>>()

/** After its first measurement, an operation needs a twentieth of the warm-up: the caches of the CPU are cold. */
const shareOfLaterWarmUps = 20

const largePages = { connections: 64, seconds: 5 }

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
  { operations, settings, warmUpRequests, firstWarmUpRequests }: Plan,
): Promise<Results['measurements']> => {
  const steps = stepsOf(sides, operations, settings)
  const measurements: Results['measurements'] = []
  for (const [index, { side, operation, setting, round }] of steps.entries()) {
    if (process.stderr.isTTY)
      process.stderr.write(`\r\x1b[Kmeasuring ${index + 1} of ${steps.length}: ${operation} ${side.name} `)
    const done = warmedUp.getOrInsertComputed(side, () => new Set())
    const perOperation = done.size === 0 ? firstWarmUpRequests : warmUpRequests
    const requests = warmUpOf(operation, perOperation) / (done.has(operation) ? shareOfLaterWarmUps : 1)
    done.add(operation)
    measurements.push(await measure(generator, side, operation, setting, Math.ceil(requests), round))
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

const options = readOptions()
const files = reportFilesOf(options)
const plan = planOf(options)
process.stderr.write('starting the sides and filling their stores ...\n')
const results: Results = { measurements: [], memory: [], startMs: [], engine: '' }
{
  await using sides = await startSides({
    sizes: plan.sizes,
    operations: plan.operations,
    store: options.store,
    ...(options.profile && { profiles: files.profiles }),
  })
  results.engine = sides.engine
  const allSides = plan.sizes.flatMap((forms) => sides.at(forms).map((side) => ({ side, forms })))
  for (const { side } of allSides) await probeAll(side, plan.operations)

  await using generator = startLoadGenerator()
  for (const [connections, settings] of Map.groupBy(plan.settings, (setting) => setting.connections)) {
    results.measurements.push(...(await measureAll(generator, sides, { ...plan, settings })))
    for (const { side, forms } of allSides)
      results.memory.push(...memoryOfSide(side, forms, `${connections} connections`))
  }
  if (plan.hasLargePages) {
    const forms = Math.min(...plan.sizes)
    const [product] = sides.at(forms) as [Side]
    await generator.run({ ...product.load('large pages', largePages.connections), ...largePages })
    results.memory.push(...memoryOfSide(product, forms, afterLargePages))
  }
  results.measurements.push(...(await measureAll(generator, sides, { ...plan, settings: plan.longLists })))
}
for (let number = 0; number < plan.starts; number++) results.startMs.push(await measureStart())
writeReport(results, options, files)
