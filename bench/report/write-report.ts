import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release, totalmem } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import type { Options } from '../plan.ts'
import { type SideName, sideNames } from '../sides/processes.ts'
import { type Cell, cellsOf, type Figure, figureOf, type Results, ratioOf, roundsOf } from './results.ts'
import { figure, type Table, toMarkdown, toText } from './tables.ts'
import { isMet, type Target, targetsOf } from './targets.ts'

/** Absolute paths of the files that a run writes. */
export interface ReportFiles {
  json: string
  /** The tables in Markdown. */
  tables: string
  /** A folder. */
  profiles: string
}

/** The files that the options name; by default beside each other in `bench/results/`, named after the time. */
export const reportFilesOf = ({ json }: Options): ReportFiles => {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const path = resolve(json ?? join(import.meta.dirname, '../results', `${time}.json`))
  const base = path.slice(0, path.length - extname(path).length)
  return { json: path, tables: `${base}.md`, profiles: `${base}.profiles` }
}

/** Writes the figures and the tables to their files, and the tables to stdout. */
export const writeReport = (results: Results, options: Options, files: ReportFiles): void => {
  const targets = targetsOf(results)
  const machine = machineOf(results)
  const time = new Date().toISOString()
  write(files.json, JSON.stringify({ time, machine, options, ...results, targets }, null, 2))

  const tables = [targetsTable(targets), cpuTable(results), measurementsTable(results), memoryTable(results)]
  write(files.tables, [verdictOf(targets), ...tables.map(toMarkdown)].join('\n\n'))
  const [summary, cpu, measurements, memory] = tables.map(toText) as [string, string, string, string]
  const sides = [...new Set(results.measurements.map(({ side }) => side))]
  print(`${machine.cores} cores of ${machine.processor}, Node ${machine.node}, ${machine.store}`)
  print(
    `Each side got ${results.warmUpRequests.toLocaleString('en-US')} requests of an operation before it was measured. The load generator
shares the cores. Medians over rounds; ± is half the range of the rounds.`,
  )
  print(legend(sides))
  print(measurements)
  print('CPU time of the product for one request in milliseconds, by process.')
  print(cpu)
  print('Memory after each part of the run; "own" excludes mapped files, which processes share.')
  print(memory)
  print(summary)
  print(verdictOf(targets))
  print(
    `Figures: ${files.json}\nTables:  ${files.tables}${options.profile ? `\nProfiles: ${files.profiles}` : ''}`,
  )
}

/** The baselines that a cell may be compared with. A run measures at most one of them. */
const baselinesOf = (cell: Cell): Cell[] => {
  const { side, operation } = cell
  if (side === 'three') return [{ ...cell, side: 'product' }]
  if (side !== 'product' || operation === 'mix' || operation === 'events') return []
  if (operation === 'get by one key') return [{ ...cell, side: 'B1', operation: 'get' }]
  return [
    { ...cell, side: operation === 'publish' ? 'J' : 'B1' },
    { ...cell, side: 'M' },
  ]
}

const measurementsTable = (results: Results): Table => ({
  columns: [
    'operation',
    'side',
    'forms',
    'conn.',
    'CPU ms',
    '±',
    'ratio to',
    'per s',
    '±',
    'p50 ms',
    'p99 ms',
  ],
  rows: cellsOf(results)
    .sort((one, other) => one.connections - other.connections || one.forms - other.forms)
    .map((cell) => rowOf(results, cell)),
  textColumns: 2,
})

const rowOf = (results: Results, cell: Cell): string[] => {
  const of = (name: Figure) => figureOf(results, cell, name)
  const noise = (name: Figure) => `${Math.round((of(name)?.noise ?? 0) * 100)}%`
  const base = baselinesOf(cell).find((each) => figureOf(results, each, 'cpuMs'))
  const ratio = base && ratioOf(results, cell, base, 'cpuMs')
  return [
    cell.operation,
    cell.side,
    cell.forms.toLocaleString('en-US'),
    `${cell.connections}`,
    figure(of('cpuMs')?.median || undefined),
    noise('cpuMs'),
    base && ratio ? `${base.side} ${figure(ratio)}` : '',
    figure(of('perSecond')?.median),
    noise('perSecond'),
    figure(of('p50')?.median),
    figure(of('p99')?.median),
  ]
}

/** The CPU time of each process of the product, at the fewest forms and connections: the median round. */
const cpuTable = (results: Results): Table => {
  const cells = cellsOf(results).filter(({ side }) => side === 'product')
  const fewest = (of: 'forms' | 'connections') => Math.min(...cells.map((cell) => cell[of]))
  const [forms, connections] = [fewest('forms'), fewest('connections')]
  const rows = cells
    .filter((cell) => cell.forms === forms && cell.connections === connections)
    .map((cell) => {
      const rounds = roundsOf(results, cell).sort((one, other) => one.cpuMs - other.cpuMs)
      return { operation: cell.operation, ofProcess: rounds[Math.floor(rounds.length / 2)]!.cpuMsOf }
    })
  const processes = [...new Set(rows.flatMap(({ ofProcess }) => Object.keys(ofProcess)))]
  return {
    columns: ['operation', ...processes],
    rows: rows.map(({ operation, ofProcess }) => [
      operation,
      ...processes.map((process) => figure(ofProcess[process] || undefined)),
    ]),
    textColumns: 1,
  }
}

const mebibyte = 2 ** 20

const memoryTable = ({ memory }: Results): Table => ({
  columns: ['side', 'process', 'after', 'forms', 'RSS MiB', 'own MiB'],
  rows: memory.map(({ side, process, after, forms, rss, anonymous }) => [
    side,
    process,
    after,
    forms.toLocaleString('en-US'),
    figure(rss / mebibyte),
    figure(anonymous / mebibyte),
  ]),
  textColumns: 3,
})

const withUnit = (value: string, { unit }: Target) => (unit ? `${value} ${unit}` : value)

const boundText = (target: Target): string =>
  target.atMost === undefined ? '' : `≤ ${withUnit(`${target.atMost}`, target)}`

const targetsTable = (targets: readonly Target[]): Table => ({
  columns: ['figure', 'measured', 'bound'],
  rows: targets
    .filter(({ value }) => value !== undefined)
    .map((target) => [target.what, withUnit(figure(target.value), target), boundText(target)]),
  textColumns: 1,
})

/** Two sentences: how many bounds were kept, and which were not. */
export const verdictOf = (targets: readonly Target[]): string => {
  const judged = targets.filter((target) => isMet(target) !== undefined)
  if (judged.length === 0) return 'No figure of this run has a bound.'
  const missed = judged.filter((target) => !isMet(target))
  const kept = `${judged.length - missed.length} of ${judged.length} bounds are kept.`
  const texts = missed.map(
    (target) => `${target.what} (${withUnit(figure(target.value), target)}, bound ${boundText(target)})`,
  )
  return missed.length === 0 ? kept : `${kept} Missed: ${texts.join('; ')}.`
}

const legend = (sides: readonly SideName[]): string =>
  sides.map((side) => `  ${side.padEnd(8)} ${sideNames[side]}`).join('\n')

const machineOf = ({ engine }: Results) => ({
  cores: availableParallelism(),
  processor: cpus()[0]?.model,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.version,
  store: engine,
})

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${text.trimEnd()}\n`)
}

const print = (text: string) => process.stdout.write(`${text}\n\n`)
