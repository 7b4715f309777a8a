/** `npm run bench`: the product beside its baselines, in one run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import cliProgress from 'cli-progress'
import { drawChart } from './chart.ts'
import { type LoadGenerator, startLoadGenerator } from './load.ts'
import { measure } from './measure.ts'
import { messageOf } from './message-of.ts'
import { type Options, readOptions, usage } from './options.ts'
import { type Plan, planOf, type Setting } from './plan.ts'
import { probe } from './probe.ts'
import { memoryOf } from './processes.ts'
import type { Operation } from './requests.ts'
import { afterConnections, afterLargePages, type MemoryAfter, type Results } from './results.ts'
import type { Side, SideName } from './side.ts'
import { type Sides, startSides } from './sides.ts'
import { measureStart } from './start-time.ts'
import { legend, measurementsTable, memoryTable, targetsTable, toMarkdown, toText } from './table.ts'
import { targetsOf } from './targets.ts'

const main = async (options: Options) => {
  const files = filesOf(options)
  const plan = planOf(options)
  const sizes = [...new Set(plan.settings.map(({ forms }) => forms))]

  say('starting and filling what is measured')
  await using sides = await startSides({
    sizes,
    operations: plan.operations,
    ...(process.env.BENCH_STORE && { storeUrl: process.env.BENCH_STORE }),
    ...(options.profile && { profiles: files.profiles }),
  })
  const everywhere = sizes.flatMap((forms) => sides.at(forms).map((side) => ({ side, forms })))
  for (const { side } of everywhere) await probeAll(side, plan.operations)

  const results: Results = { measurements: [], memory: [], startMs: [], cores: availableParallelism() }
  const noteMemory = (after: string) =>
    results.memory.push(...everywhere.flatMap(({ side, forms }) => memoryOfSide(side, forms, after)))
  {
    await using generator = startLoadGenerator()
    for (const [connections, settings] of Map.groupBy(plan.settings, (setting) => setting.connections)) {
      results.measurements.push(...(await measureAll(generator, sides, { ...plan, settings })))
      noteMemory(afterConnections(connections))
    }
    if (plan.operations.includes('list')) {
      const [product] = sides.at(Math.min(...sizes)) as [Side]
      await generator.run({ ...product.load('large pages', largePageConnections), seconds: largePageSeconds })
      results.memory.push(...memoryOfSide(product, Math.min(...sizes), afterLargePages))
    }
  }
  for (let number = 0; number < plan.starts; number++) results.startMs.push(await measureStart())
  report(results, options, files)
}

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
 * Round by round; in a round, all sides and settings of an operation right after each other, so that what slows the
 * machine down for a while slows all of them down.
 */
const measureAll = async (
  generator: LoadGenerator,
  sides: Sides,
  { operations, settings, warmUpSeconds, firstWarmUpSeconds }: Plan,
): Promise<Results['measurements']> => {
  const turns = turnsOf(sides, operations, settings)
  using progress = startProgress(turns.length)
  const measurements: Results['measurements'] = []
  for (const { side, operation, setting, round } of turns) {
    const warmUp = round === 1 ? firstWarmUpSeconds : warmUpSeconds
    measurements.push(await measure(generator, side, operation, setting, warmUp, round))
    progress.step(`${operation} ${side.name}`)
  }
  return measurements
}

const turnsOf = (sides: Sides, operations: readonly Operation[], settings: readonly Setting[]) => {
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

interface Files {
  json: string
  /** The tables in Markdown. */
  tables: string
  chart: string
  profiles: string
}

const filesOf = ({ json, chart }: Options): Files => {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const path = resolve(json ?? join(import.meta.dirname, 'results', `${time}.json`))
  const base = path.slice(0, path.length - extname(path).length)
  return {
    json: path,
    tables: `${base}.md`,
    chart: resolve(chart ?? `${base}.svg`),
    profiles: `${base}.profiles`,
  }
}

const report = (results: Results, options: Options, files: Files) => {
  const targets = targetsOf(results)
  const machine = {
    cores: results.cores,
    processor: cpus()[0]?.model,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    node: process.version,
    store: process.env.BENCH_STORE ? 'MongoDB' : 'SQLite',
  }
  write(
    files.json,
    JSON.stringify({ time: new Date().toISOString(), machine, options, ...results, targets }, null, 2),
  )
  write(files.chart, drawChart(targets))

  const [measurements, memory, met] = [
    measurementsTable(results),
    memoryTable(results),
    targetsTable(targets),
  ]
  write(files.tables, [met, measurements, memory].map(toMarkdown).join('\n\n'))
  const sides = [...new Set(results.measurements.map(({ side }) => side))] satisfies SideName[]
  print(`${machine.cores} cores of ${machine.processor}, Node ${machine.node}, ${machine.store}`)
  print('The load generator shares the cores. Medians over rounds; ± is half the range of the rounds.')
  print(legend(sides))
  print(toText(measurements))
  print('Memory after each part of the run; "own" leaves out mapped files, which processes share.')
  print(toText(memory))
  print(toText(met))
  print(
    `Figures: ${files.json}\nTables:  ${files.tables}\nChart:   ${files.chart}${options.profile ? `\nProfiles: ${files.profiles}` : ''}`,
  )
}

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${text.trimEnd()}\n`)
}

const print = (text: string) => process.stdout.write(`${text}\n\n`)
const say = (text: string) => process.stderr.write(`${text} ...\n`)

/** A bar where a person looks on, and nothing in a log. */
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

try {
  if (process.argv.includes('--help')) process.stdout.write(usage)
  else await main(readOptions(process.argv.slice(2)))
} catch (error) {
  process.stderr.write(`npm run bench: ${messageOf(error)}\n`)
  process.exitCode = 1
}
