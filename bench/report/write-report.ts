import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { dirname, extname, join, resolve } from 'node:path'
import type { Options } from '../options.ts'
import type { SideName } from '../sides/side.ts'
import { drawChart } from './chart.ts'
import type { Results } from './results.ts'
import { legend, measurementsTable, memoryTable, targetsTable, toMarkdown, toText } from './table.ts'
import { targetsOf } from './targets.ts'

/** Absolute paths of the files that a run writes. */
export interface ReportFiles {
  json: string
  /** The tables in Markdown. */
  tables: string
  chart: string
  /** A folder. */
  profiles: string
}

/** The files that the options name; by default beside each other in `bench/results/`, named after the time. */
export const reportFilesOf = ({ json, chart }: Options): ReportFiles => {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const path = resolve(json ?? join(import.meta.dirname, '../results', `${time}.json`))
  const base = path.slice(0, path.length - extname(path).length)
  return {
    json: path,
    tables: `${base}.md`,
    chart: resolve(chart ?? `${base}.svg`),
    profiles: `${base}.profiles`,
  }
}

/** Writes the figures, the tables and the chart to their files, and the tables to stdout. */
export const writeReport = (results: Results, options: Options, files: ReportFiles): void => {
  const targets = targetsOf(results)
  const machine = machineOf(results)
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
  print('Memory after each part of the run; "own" excludes mapped files, which processes share.')
  print(toText(memory))
  print(toText(met))
  print(
    `Figures: ${files.json}\nTables:  ${files.tables}\nChart:   ${files.chart}${options.profile ? `\nProfiles: ${files.profiles}` : ''}`,
  )
}

const machineOf = ({ cores, engine }: Results) => ({
  cores,
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
