import { max, median, min } from 'simple-statistics'
import type { Operation } from '../load/requests.ts'
import type { Memory, SideName } from '../sides/processes.ts'

/** What one figure of the results is about. It is measured once per round. */
export interface Cell {
  side: SideName
  operation: Operation
  forms: number
  connections: number
}

export interface Measurement extends Cell {
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
export type Figure = 'perSecond' | 'p50' | 'p99' | 'cpuMs'

/** Labels of the parts of a run, as in {@link MemoryAfter}. */
export const afterConnections = (connections: number): string => `${connections} connections`
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
  /** Requests of each operation that each side got before its first measurement. */
  warmUpRequests: number
  /** The stores' engine, such as `SQLite`. */
  engine: string
}

/** The spread of a figure over the rounds. */
export interface Spread {
  median: number
  /** Half the range as a share of the median; 0 with one round. */
  noise: number
}

export const spreadOf = (figures: readonly number[]): Spread => {
  const values = [...figures]
  const middle = median(values)
  return { median: middle, noise: middle === 0 ? 0 : (max(values) - min(values)) / 2 / middle }
}

/** The measurements of a cell, ordered by round. */
export const roundsOf = ({ measurements }: Results, cell: Cell): Measurement[] =>
  measurements
    .filter(
      ({ side, operation, forms, connections }) =>
        side === cell.side &&
        operation === cell.operation &&
        forms === cell.forms &&
        connections === cell.connections,
    )
    .sort((one, other) => one.round - other.round)

/** The spread of a figure over the rounds; undefined when the cell was not measured. */
export const figureOf = (results: Results, cell: Cell, figure: Figure): Spread | undefined => {
  const figures = roundsOf(results, cell).map((round) => round[figure])
  return figures.length > 0 ? spreadOf(figures) : undefined
}

/** The median over the rounds of one cell's figure divided by another's. A slowdown of a whole round cancels out. */
export const ratioOf = (results: Results, cell: Cell, base: Cell, figure: Figure): number | undefined => {
  const bases = new Map(roundsOf(results, base).map((round) => [round.round, round]))
  const ratios = roundsOf(results, cell).flatMap((round) => {
    const other = bases.get(round.round)
    return other && other[figure] > 0 ? [round[figure] / other[figure]] : []
  })
  return ratios.length > 0 ? spreadOf(ratios).median : undefined
}

/** The distinct cells, in the order of their first measurement. */
export const cellsOf = ({ measurements }: Results): Cell[] => {
  const cells = measurements.map(({ side, operation, forms, connections }) => ({
    side,
    operation,
    forms,
    connections,
  }))
  return [...new Map(cells.map((cell) => [JSON.stringify(cell), cell])).values()]
}
