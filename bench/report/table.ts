import CliTable from 'cli-table3'
import { type SideName, sideNames } from '../sides/side.ts'
import { type Growth, isGrowing } from './growth.ts'
import { type Cell, cellsOf, figureOf, type Results, ratioOf } from './results.ts'
import { isMet, type Target } from './targets.ts'

const mebibyte = 2 ** 20

export interface Table {
  columns: string[]
  rows: string[][]
  /** Number of leading columns that hold text. The others hold numbers. */
  textColumns: number
}

export const toText = ({ columns, rows, textColumns }: Table): string => {
  const table = new CliTable({
    head: columns,
    colAligns: columns.map((_, index) => (index < textColumns ? 'left' : 'right')),
    style: { head: [], border: [], compact: true },
  })
  table.push(...rows)
  return table.toString()
}

export const toMarkdown = ({ columns, rows, textColumns }: Table): string => {
  const lines = columns.map((_, index) => (index < textColumns ? '---' : '---:'))
  return [columns, lines, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Formats a number with three significant digits and no exponent. */
export const figure = (value: number | undefined): string => {
  if (value === undefined) return '–'
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** The cells that a cell may be compared with in the column `ratio to`. The run measures at most one of them. */
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

export const measurementsTable = (results: Results): Table => {
  const rows = cellsOf(results)
    .sort((one, other) => one.connections - other.connections || one.forms - other.forms)
    .map((cell) => rowOf(results, cell))
  const columns = [
    'operation',
    'side',
    'forms',
    'conn.',
    'per s',
    '±',
    'p50 ms',
    'p99 ms',
    'CPU ms',
    'ratio to',
  ]
  return { columns, rows, textColumns: 2 }
}

const rowOf = (results: Results, cell: Cell): string[] => {
  const of = (name: 'perSecond' | 'p50' | 'p99' | 'cpuMs') => figureOf(results, cell, name)
  const base = baselinesOf(cell).find((each) => figureOf(results, each, 'perSecond'))
  const ratio = base && ratioOf(results, cell, base, 'perSecond')
  return [
    cell.operation,
    cell.side,
    cell.forms.toLocaleString('en-US'),
    `${cell.connections}`,
    figure(of('perSecond')?.median),
    `${Math.round((of('perSecond')?.noise ?? 0) * 100)}%`,
    figure(of('p50')?.median),
    figure(of('p99')?.median),
    figure(of('cpuMs')?.median || undefined),
    base && ratio ? `${base.side} ${figure(ratio)}` : '',
  ]
}

export const memoryTable = ({ memory }: Results): Table => ({
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

export const growthTable = (growth: readonly Growth[]): Table => ({
  columns: ['process', '', 'first MiB', 'last MiB', 'MiB/min', '±', 'own MiB/min', '±'],
  rows: growth.map((each) => [
    each.process,
    isGrowing(each) ? 'GROWS' : 'steady',
    figure(each.first),
    figure(each.last),
    signed(each.rss.perMinute),
    figure(each.rss.standardError),
    signed(each.anonymous.perMinute),
    figure(each.anonymous.standardError),
  ]),
  textColumns: 2,
})

const signed = (value: number) => `${value < 0 ? '−' : '+'}${figure(Math.abs(value))}`

export const boundText = ({ bound, unit }: Target): string => {
  const [sign, limit] = 'atLeast' in bound ? ['≥', bound.atLeast] : ['≤', bound.atMost]
  return `${sign} ${limit}${unit ? ` ${unit}` : ''}`
}

export const targetsTable = (targets: readonly Target[]): Table => ({
  columns: ['target', '', 'measured', 'bound'],
  rows: targets.map((target) => [
    target.what,
    { true: 'met', false: 'MISSED', undefined: 'not measured' }[`${isMet(target)}`]!,
    figure(target.value),
    boundText(target),
  ]),
  textColumns: 2,
})

export const legend = (sides: readonly SideName[]): string =>
  sides.map((side) => `  ${side.padEnd(8)} ${sideNames[side]}`).join('\n')
