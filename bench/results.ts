import type { Memory } from './processes.ts'
import type { Operation } from './requests.ts'
import type { SideName } from './side.ts'
import { type Spread, spreadOf } from './statistics.ts'

/** What is measured again in every round. */
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
  /** Of one request, in milliseconds. */
  p50: number
  p99: number
  /** Processor time of one request over all processes of the side, in milliseconds, and of each of them. */
  cpuMs: number
  cpuMsOf: Record<string, number>
}
export type Figure = 'perSecond' | 'p50' | 'p99' | 'cpuMs'

/** What `after` says of a part of the run. */
export const afterConnections = (connections: number): string => `${connections} connections`
export const afterLargePages = '64 × 4 MiB pages'

/** Memory of a process after a part of the run. */
export interface MemoryAfter extends Memory {
  side: SideName
  forms: number
  process: string
  /** The part, such as `16 connections`. */
  after: string
}

export interface Results {
  measurements: Measurement[]
  memory: MemoryAfter[]
  /** Milliseconds until `npm start` was ready, of each try. */
  startMs: number[]
  cores: number
}

/** The measurements of a cell, in the order of their rounds. */
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

/** @returns undefined where the cell was not measured. */
export const figureOf = (results: Results, cell: Cell, figure: Figure): Spread | undefined => {
  const figures = roundsOf(results, cell).map((round) => round[figure])
  return figures.length > 0 ? spreadOf(figures) : undefined
}

/** One cell's figure over another's, round by round, so that what slows a whole round down does not count. */
export const ratioOf = (results: Results, cell: Cell, base: Cell, figure: Figure): number | undefined => {
  const bases = new Map(roundsOf(results, base).map((round) => [round.round, round]))
  const ratios = roundsOf(results, cell).flatMap((round) => {
    const other = bases.get(round.round)
    return other && other[figure] > 0 ? [round[figure] / other[figure]] : []
  })
  return ratios.length > 0 ? spreadOf(ratios).median : undefined
}

/** Every cell once, in the order in which they were measured first. */
export const cellsOf = ({ measurements }: Results): Cell[] => {
  const cells = measurements.map(({ side, operation, forms, connections }) => ({
    side,
    operation,
    forms,
    connections,
  }))
  return [...new Map(cells.map((cell) => [JSON.stringify(cell), cell])).values()]
}
