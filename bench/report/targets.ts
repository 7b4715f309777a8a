import { bareMongodbOperations, type Operation } from '../load/requests.ts'
import { fewForms, mostForms } from '../plan.ts'
import {
  afterConnections,
  afterLargePages,
  type Cell,
  figureOf,
  type Results,
  ratioOf,
  roundsOf,
} from './results.ts'
import { spreadOf } from './statistics.ts'

export interface Target {
  what: string
  /** Undefined when the run did not measure it. */
  value: number | undefined
  bound: { atLeast: number } | { atMost: number }
  unit?: 'MiB' | 's' | 'ms'
}

/** Gets per second of B0 on the machine on which the CMSs were measured. */
const cmsBareGets = 20_900
/** Operations per second of the best of three CMSs on SQLite, and the factor by which the product has to exceed it. */
const cms = [
  { operation: 'get', perSecond: 208, times: 20 },
  { operation: 'list', perSecond: 114, times: 20 },
  { operation: 'create', perSecond: 105, times: 15 },
  { operation: 'patch', perSecond: 85, times: 15 },
  { operation: 'publish', perSecond: 78, times: 12 },
] as const

/** With fewer cores, three publishers compete for CPU with the processes that supply their work. */
const coresForThreePublishers = 8

const services = ['gateway', 'organizations', 'forms', 'publisher']

export const isMet = ({ value, bound }: Target): boolean | undefined => {
  if (value === undefined) return undefined
  return 'atLeast' in bound ? value >= bound.atLeast : value <= bound.atMost
}

/** All targets. Unless a target says otherwise, it is about the fewest forms and connections of the run. */
export const targetsOf = (results: Results): Target[] => {
  const { measurements } = results
  const fewestForms = Math.min(...measurements.map(({ forms }) => forms))
  const connections = Math.min(...measurements.map((each) => each.connections))
  const cell: CellOf = (side, operation, forms = fewestForms) => ({ side, operation, forms, connections })
  if (measurements.some(({ side }) => side === 'M')) return mongodbTargets(results, cell)
  return [
    ...baselineTargets(results, cell),
    {
      what: `publish: p99 / p50 at ${connections} connections`,
      value: tailOf(results, cell('product', 'publish')),
      bound: { atMost: 10 },
    },
    {
      what: 'event in the stream after its change, p99 at 500 changes a second',
      value: figureOf(results, cell('product', 'events'), 'p99')?.median,
      bound: { atMost: 250 },
      unit: 'ms',
    },
    ...cmsTargets(results, cell),
    threePublishers(results, cell('product', 'publish'), cell('three', 'publish')),
    {
      what: 'light list of 1000 / full list of 1000',
      value: ratioOf(
        results,
        cell('product', 'light list of 1000'),
        cell('product', 'full list of 1000'),
        'perSecond',
      ),
      bound: { atLeast: 5 },
    },
    ...growthTargets(results, cell),
    ...services.map((process) => rssOf(results, process, afterConnections(connections), 120)),
    ...services.map((process) => rssOf(results, process, afterLargePages, 250)),
    {
      what: 'npm start until ready',
      value: results.startMs.length > 0 ? spreadOf(results.startMs).median / 1000 : undefined,
      bound: { atMost: 3 },
      unit: 's',
    },
  ]
}

type CellOf = (side: Cell['side'], operation: Operation, forms?: number) => Cell

/** Throughput of the product on MongoDB relative to the bare driver on the same engine. */
const mongodbTargets = (results: Results, cell: CellOf): Target[] =>
  bareMongodbOperations.map((operation) => ({
    what: `${operation} / M`,
    value: ratioOf(results, cell('product', operation), cell('M', operation), 'perSecond'),
    bound: { atLeast: 0.5 },
  }))

/** Throughput and CPU of the product relative to the baselines. */
const baselineTargets = (results: Results, cell: CellOf): Target[] => {
  const throughput = (operation: Operation, base: 'B1' | 'B2' | 'J', atLeast: number): Target => ({
    what: `${operation} / ${base}`,
    value: ratioOf(results, cell('product', operation), cell(base, operation), 'perSecond'),
    bound: { atLeast },
  })
  const cpu = (operation: Operation): Target => ({
    what: `${operation}: CPU / B1`,
    value: ratioOf(results, cell('product', operation), cell('B1', operation), 'cpuMs'),
    bound: { atMost: 1.5 },
  })
  return [
    ...(['get', 'live'] as const).flatMap((operation) => [
      throughput(operation, 'B1', 0.75),
      throughput(operation, 'B2', 0.4),
      cpu(operation),
    ]),
    throughput('list', 'B1', 0.8),
    throughput('filtered list', 'B1', 0.8),
    throughput('create', 'B1', 0.7),
    throughput('patch', 'B1', 0.7),
    throughput('publish', 'J', 0.4),
  ]
}

const cmsTargets = (results: Results, cell: CellOf): Target[] =>
  cms.map(({ operation, perSecond, times }) => ({
    what: `${operation} / CMS, scaled`,
    value: timesCms(results, cell('product', operation), cell('B0', 'get'), perSecond),
    bound: { atLeast: times },
  }))

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
    bound: { atMost: 1.5 },
  }))

const tailOf = (results: Results, cell: Cell): number | undefined => {
  const tails = roundsOf(results, cell).map(({ p99, p50 }) => p99 / p50)
  return tails.length > 0 ? spreadOf(tails).median : undefined
}

/** The product's figure as a multiple of the CMS's, which is scaled to this machine by the gets of B0. */
const timesCms = (results: Results, cell: Cell, bareGet: Cell, cmsPerSecond: number): number | undefined => {
  const ours = figureOf(results, cell, 'perSecond')
  const bare = figureOf(results, bareGet, 'perSecond')
  return ours && bare && ours.median / (cmsPerSecond * (bare.median / cmsBareGets))
}

/**
 * The speed-up by three publishers: measured when the machine has enough cores, otherwise computed from the CPU time
 * that the publishers spend per publish.
 */
const threePublishers = (results: Results, one: Cell, three: Cell): Target => {
  if (results.cores >= coresForThreePublishers)
    return {
      what: '3 publishers / 1',
      value: ratioOf(results, three, one, 'perSecond'),
      bound: { atLeast: 1.5 },
    }
  const [cpuOfOne, cpuOfThree] = [publisherCpu(results, one), publisherCpu(results, three)]
  return {
    what: '3 publishers / 1, by the CPU of the publishers',
    value: cpuOfOne && cpuOfThree ? (3 * cpuOfOne) / cpuOfThree : undefined,
    bound: { atLeast: 1.5 },
  }
}

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
  return {
    what: `${process}: RSS after ${after}`,
    value: most && most / 2 ** 20,
    bound: { atMost },
    unit: 'MiB',
  }
}
