import { bareMongodbOperations, type Operation } from '../load/requests.ts'
import { fewForms, mostForms } from '../plan.ts'
import {
  afterConnections,
  afterLargePages,
  type Cell,
  type Figure,
  figureOf,
  type Results,
  ratioOf,
  roundsOf,
  spreadOf,
} from './results.ts'

/** A figure that sums up a part of a run, and its bound if it has one. */
export interface Target {
  what: string
  /** Undefined when the run did not measure it. */
  value: number | undefined
  atMost?: number
  unit?: 'MiB' | 's' | 'ms'
}

const services = ['gateway', 'organizations', 'forms', 'publisher']

/** Undefined for a figure that was not measured or has no bound. */
export const isMet = ({ value, atMost }: Target): boolean | undefined =>
  value === undefined || atMost === undefined ? undefined : value <= atMost

/** All targets. Unless a target says otherwise, it is about the fewest forms and connections of the run. */
export const targetsOf = (results: Results): Target[] => {
  const { measurements } = results
  const fewestForms = Math.min(...measurements.map(({ forms }) => forms))
  const connections = Math.min(...measurements.map((each) => each.connections))
  const cell: CellOf = (side, operation, forms = fewestForms) => ({ side, operation, forms, connections })
  if (measurements.some(({ side }) => side === 'M')) return mongodbTargets(results, cell)
  const [publish, three] = [cell('product', 'publish'), cell('three', 'publish')]
  const [light, full] = [cell('product', 'light list of 1000'), cell('product', 'full list of 1000')]
  return [
    ...baselineTargets(results, cell),
    {
      what: `publish: p99 / p50 at ${connections} connections`,
      value: tailOf(results, publish),
      atMost: 10,
    },
    {
      what: 'publish: CPU of three publishers / of one',
      value: quotient(publisherCpu(results, three), publisherCpu(results, publish)),
    },
    {
      what: 'event in the stream after its change, p99 at 500 changes a second',
      value: figureOf(results, cell('product', 'events'), 'p99')?.median,
      atMost: 250,
      unit: 'ms',
    },
    {
      what: 'light list of 1000: CPU / full list of 1000',
      value: ratioOf(results, light, full, 'cpuMs'),
      atMost: 0.2,
    },
    ...growthTargets(results, cell),
    ...services.map((process) => rssOf(results, process, afterConnections(connections), 160)),
    ...services.map((process) => rssOf(results, process, afterLargePages, 250)),
    {
      what: 'npm start until ready',
      value: results.startMs.length > 0 ? spreadOf(results.startMs).median / 1000 : undefined,
      atMost: 3,
      unit: 's',
    },
  ]
}

type CellOf = (side: Cell['side'], operation: Operation, forms?: number) => Cell

/** The product's figure of an operation relative to that of a baseline. */
const comparison =
  (results: Results, cell: CellOf, base: Cell['side'], figure: Figure, atMost?: number) =>
  (operation: Operation): Target => ({
    what: `${operation}: ${figure === 'cpuMs' ? 'CPU' : 'throughput'} / ${base}`,
    value: ratioOf(results, cell('product', operation), cell(base, operation), figure),
    ...(atMost !== undefined && { atMost }),
  })

/** The product on MongoDB relative to the bare driver on the same engine. */
const mongodbTargets = (results: Results, cell: CellOf): Target[] => [
  ...bareMongodbOperations.map(comparison(results, cell, 'M', 'cpuMs')),
  ...bareMongodbOperations.map(comparison(results, cell, 'M', 'perSecond')),
]

/** CPU of the product relative to the baselines, then throughput, which depends more on what else the machine does. */
const baselineTargets = (results: Results, cell: CellOf): Target[] => {
  const bounds: [Operation, number][] = [
    ['get', 1.75],
    ['live', 1.75],
    ['list', 2.25],
    ['filtered list', 2.25],
    ['create', 1.75],
    ['patch', 1.75],
  ]
  return [
    ...bounds.map(([operation, atMost]) => comparison(results, cell, 'B1', 'cpuMs', atMost)(operation)),
    ...bounds.map(([operation]) => comparison(results, cell, 'B1', 'perSecond')(operation)),
    comparison(results, cell, 'J', 'perSecond')('publish'),
  ]
}

/** How the p99 of reads grows with the number of forms. */
const growthTargets = (results: Results, cell: CellOf): Target[] =>
  (['search', 'get', 'list', 'filtered list'] as const).map((operation) => ({
    what: `${operation}: p99 at 1,000,000 forms / at 1,000`,
    value: ratioOf(
      results,
      cell('product', operation, mostForms),
      cell('product', operation, fewForms),
      'p99',
    ),
    atMost: 1.5,
  }))

const tailOf = (results: Results, cell: Cell): number | undefined => {
  const tails = roundsOf(results, cell).map(({ p99, p50 }) => p99 / p50)
  return tails.length > 0 ? spreadOf(tails).median : undefined
}

const quotient = (one: number | undefined, other: number | undefined): number | undefined =>
  one && other ? one / other : undefined

/** CPU time that all publishers spend per publish, in milliseconds. */
const publisherCpu = (results: Results, cell: Cell): number | undefined => {
  const costs = roundsOf(results, cell).map(({ cpuMsOf }) =>
    Object.entries(cpuMsOf)
      .filter(([process]) => process.startsWith('publisher'))
      .reduce((sum, [, ms]) => sum + ms, 0),
  )
  return costs.length > 0 ? spreadOf(costs).median : undefined
}

const rssOf = ({ memory }: Results, process: string, after: string, atMost: number): Target => {
  const ofProcess = memory.filter(
    (each) => each.side === 'product' && each.process === process && each.after === after,
  )
  const most = ofProcess.length > 0 ? Math.max(...ofProcess.map(({ rss }) => rss)) : undefined
  return { what: `${process}: RSS after ${after}`, value: most && most / 2 ** 20, atMost, unit: 'MiB' }
}
