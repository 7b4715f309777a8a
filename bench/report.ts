import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import { max, median, min } from 'simple-statistics'
import type { Operation } from './load/requests.ts'
import { fewForms, mostForms, type Options } from './plan.ts'
import { type Memory, type SideName, sideNames } from './sides/processes.ts'

/** One measurement of an operation on a side, in one round. */
export interface Measurement {
  side: SideName
  operation: Operation
  forms: number
  connections: number
  round: number
  requests: number
  perSecond: number
  /** Response time in milliseconds. */
  p50: number
  p99: number
  /** CPU time per request over all processes of the side, in milliseconds. */
  cpuMs: number
  /** CPU time per request of each process, by its name. */
  cpuMsOf: Record<string, number>
}

export const afterLargePages = '64 × 4 MiB pages'

/** Memory of a process after a part of the run. */
export interface MemoryAfter extends Memory {
  side: SideName
  forms: number
  process: string
  /** Label of the part, such as `16 connections`. */
  after: string
}

export interface Results {
  measurements: Measurement[]
  memory: MemoryAfter[]
  /** Milliseconds until `npm start` was ready, for each start. */
  startMs: number[]
  /** The stores' engine, such as `SQLite`. */
  engine: string
}

type FigureOf = (measurement: Measurement) => number

/** The median over rounds; undefined without one. */
const medianOf = (rounds: readonly Measurement[], figureOf: FigureOf): number | undefined =>
  rounds.length > 0 ? median(rounds.map(figureOf)) : undefined

/** The median over rounds of one side's figure divided by another's. A slowdown of a whole round cancels out. */
const ratioOf = (
  rounds: readonly Measurement[],
  bases: readonly Measurement[],
  figureOf: FigureOf,
): number | undefined => {
  const ratios = rounds.flatMap((one) => {
    const base = bases.find(({ round }) => round === one.round)
    return base && figureOf(base) > 0 ? [figureOf(one) / figureOf(base)] : []
  })
  return ratios.length > 0 ? median(ratios) : undefined
}

const perSecond: FigureOf = (measurement) => measurement.perSecond
const cpuMs: FigureOf = (measurement) => measurement.cpuMs
/** CPU time of all publishers. */
const publisherCpu: FigureOf = ({ cpuMsOf }) =>
  Object.entries(cpuMsOf).reduce((sum, [name, ms]) => sum + (name.startsWith('publisher') ? ms : 0), 0)

/** A figure that sums up a part of a run, and its bound. */
export interface Target {
  what: string
  /** Undefined when the run did not measure it. */
  value: number | undefined
  atMost: number
}

const bounds: [Operation, number][] = [
  ['get', 1.75],
  ['live', 1.75],
  ['list', 2.25],
  ['filtered list', 2.25],
  ['create', 1.75],
  ['patch', 1.75],
]

/** All figures with a bound. Unless one says otherwise, it is about the fewest forms and connections of the run. */
export const targetsOf = ({ measurements, memory, startMs }: Results): Target[] => {
  const fewest = (of: 'forms' | 'connections') => Math.min(...measurements.map((each) => each[of]))
  const [fewestForms, connections] = [fewest('forms'), fewest('connections')]
  const rounds = (side: SideName, operation: Operation, forms = fewestForms) =>
    measurements.filter(
      (each) =>
        each.side === side &&
        each.operation === operation &&
        each.forms === forms &&
        each.connections === connections,
    )
  const rss = (process: string, after: string, atMost: number): Target => {
    const ofProcess = memory.filter(
      (each) => each.side === 'product' && each.process === process && each.after === after,
    )
    const most = ofProcess.length > 0 ? max(ofProcess.map(({ rss }) => rss / 2 ** 20)) : undefined
    return { what: `${process}: RSS in MiB after ${after}`, value: most, atMost }
  }
  const services = ['gateway', 'organizations', 'forms', 'publisher']
  return [
    ...bounds.map(([operation, atMost]) => ({
      what: `${operation}: CPU / B1`,
      value: ratioOf(rounds('product', operation), rounds('B1', operation), cpuMs),
      atMost,
    })),
    {
      what: 'publish: p99 / p50',
      value: medianOf(rounds('product', 'publish'), ({ p99, p50 }) => p99 / p50),
      atMost: 10,
    },
    {
      what: 'event in the stream after its change at 500 changes a second: p99 in ms',
      value: medianOf(rounds('product', 'events'), ({ p99 }) => p99),
      atMost: 250,
    },
    {
      what: 'light list of 1000: CPU / full list of 1000',
      value: ratioOf(rounds('product', 'light list of 1000'), rounds('product', 'full list of 1000'), cpuMs),
      atMost: 0.2,
    },
    ...(['search', 'get', 'list', 'filtered list'] as const).map((operation) => ({
      what: `${operation}: p99 at 1,000,000 forms / at 1,000`,
      value: ratioOf(
        rounds('product', operation, mostForms),
        rounds('product', operation, fewForms),
        ({ p99 }) => p99,
      ),
      atMost: 1.5,
    })),
    ...services.map((service) => rss(service, `${connections} connections`, 160)),
    ...services.map((service) => rss(service, afterLargePages, 250)),
    {
      what: 'npm start until ready in s',
      value: startMs.length > 0 ? median(startMs) / 1000 : undefined,
      atMost: 3,
    },
  ]
}

/** Two sentences: how many bounds were kept, and which were not. */
export const verdictOf = (targets: readonly Target[]): string => {
  const judged = targets.filter(({ value }) => value !== undefined)
  const missed = judged.filter(({ value, atMost }) => value! > atMost)
  const kept = `${judged.length - missed.length} of ${judged.length} bounds are kept.`
  const texts = missed.map(({ what, value, atMost }) => `${what}: ${figure(value)} instead of ${atMost}`)
  return missed.length === 0 ? kept : `${kept} Missed: ${texts.join('; ')}.`
}

/** Formats a number with three significant digits and no exponent. */
export const figure = (value: number | undefined): string => {
  if (value === undefined) return '–'
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A table in Markdown whose columns are aligned, so that it is legible on a terminal, too. */
export const markdownTable = (columns: readonly string[], rows: readonly string[][]): string => {
  const widths = columns.map((column, index) =>
    Math.max(3, column.length, ...rows.map((row) => row[index]!.length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index]!)).join(' | ')} |`
  return [columns, widths.map((width) => '-'.repeat(width)), ...rows].map(line).join('\n')
}

/** The side that the product is compared with. A run measures at most one of them. */
const baselinesOf = ({ side, operation }: Measurement): SideName[] => {
  if (side === 'three') return ['product']
  if (side !== 'product') return []
  return operation === 'publish' ? ['J', 'M'] : ['B1', 'M']
}

/** One row for each operation, side, number of forms and number of connections. */
const measurementsTable = ({ measurements }: Results): string => {
  const cellOf = ({ operation, side, forms, connections }: Measurement) =>
    JSON.stringify([operation, side, forms, connections])
  const cells = Map.groupBy(measurements, cellOf)
  const rows = [...cells.values()].map((rounds) => {
    const [first] = rounds as [Measurement]
    const operation = first.operation === 'get by one key' ? 'get' : first.operation
    const found = baselinesOf(first).flatMap((side) => {
      const base = cells.get(cellOf({ ...first, side, operation }))
      return base ? [{ side, base }] : []
    })
    const ratio = (of: FigureOf) => figure(found[0] && ratioOf(rounds, found[0].base, of))
    // Three publishers compete for the cores with everything that supplies their work.
    const cpuOf = first.side === 'three' ? publisherCpu : cpuMs
    const noise = (max(rounds.map(cpuMs)) - min(rounds.map(cpuMs))) / 2 / medianOf(rounds, cpuMs)!
    return [
      first.operation,
      first.side,
      first.forms.toLocaleString('en-US'),
      `${first.connections}`,
      figure(medianOf(rounds, cpuMs) || undefined),
      `${Math.round((noise || 0) * 100)}%`,
      figure(medianOf(rounds, perSecond)),
      figure(medianOf(rounds, ({ p50 }) => p50)),
      figure(medianOf(rounds, ({ p99 }) => p99)),
      found[0]?.side ?? '',
      ratio(cpuOf),
      ratio(perSecond),
    ]
  })
  const columns = ['operation', 'side', 'forms', 'conn.', 'CPU ms', '±', 'per s', 'p50 ms', 'p99 ms']
  return markdownTable([...columns, 'to', 'CPU ratio', 'per s ratio'], rows)
}

/** The CPU time of each process of the product, at the fewest forms and connections. */
const processesTable = ({ measurements }: Results): string => {
  const fewest = (of: 'forms' | 'connections') => Math.min(...measurements.map((each) => each[of]))
  const [forms, connections] = [fewest('forms'), fewest('connections')]
  const ofProduct = measurements.filter(
    (each) => each.side === 'product' && each.forms === forms && each.connections === connections,
  )
  const processes = [...new Set(ofProduct.flatMap(({ cpuMsOf }) => Object.keys(cpuMsOf)))]
  const rows = [...Map.groupBy(ofProduct, ({ operation }) => operation)].map(([operation, rounds]) => [
    operation,
    ...processes.map((name) => figure(medianOf(rounds, ({ cpuMsOf }) => cpuMsOf[name]!) || undefined)),
  ])
  return markdownTable(['operation', ...processes], rows)
}

const memoryTable = ({ memory }: Results): string =>
  markdownTable(
    ['side', 'process', 'after', 'forms', 'RSS MiB', 'own MiB'],
    memory.map(({ side, process, after, forms, rss, anonymous }) => [
      side,
      process,
      after,
      forms.toLocaleString('en-US'),
      figure(rss / 2 ** 20),
      figure(anonymous / 2 ** 20),
    ]),
  )

/** Absolute paths of the files that a run writes. */
export interface ReportFiles {
  json: string
  /** A folder. */
  profiles: string
}

/** The files that the options name; by default beside each other in `bench/results/`, named after the time. */
export const reportFilesOf = ({ json }: Options): ReportFiles => {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const path = resolve(json ?? join(import.meta.dirname, 'results', `${time}.json`))
  return { json: path, profiles: `${path.slice(0, path.length - extname(path).length)}.profiles` }
}

/** Writes the figures to their file, and the tables to stdout. */
export const writeReport = (results: Results, options: Options, { json, profiles }: ReportFiles): void => {
  const targets = targetsOf(results)
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model}, Node ${process.version}`
  mkdirSync(dirname(json), { recursive: true })
  writeFileSync(json, `${JSON.stringify({ machine, options, ...results, targets }, null, 2)}\n`)
  const sides = [...new Set(results.measurements.map(({ side }) => side))]
  const parts = [
    `${machine}, ${results.engine}`,
    sides.map((side) => `  ${side.padEnd(8)} ${sideNames[side]}`).join('\n'),
    measurementsTable(results),
    'CPU time of the product for one request in milliseconds, by process:',
    processesTable(results),
    'Memory after each part of the run; "own" excludes mapped files, which processes share:',
    memoryTable(results),
    verdictOf(targets),
    `Figures: ${json}${options.profile ? `\nProfiles: ${profiles}` : ''}`,
  ]
  process.stdout.write(`${parts.join('\n\n')}\n`)
}
