import { describe, expect, it } from 'vitest'
import { type Cell, type Measurement, type Results, spreadOf } from './results.ts'
import { isMet, targetsOf } from './targets.ts'
import { verdictOf } from './write-report.ts'

const measured = (fields: Partial<Measurement> & Pick<Cell, 'side' | 'operation'>): Measurement => ({
  forms: 1_000,
  connections: 16,
  round: 1,
  requests: 1,
  perSecond: 1,
  p50: 1,
  p99: 1,
  cpuMs: 1,
  cpuMsOf: {},
  ...fields,
})

const resultsOf = (measurements: Measurement[], more: Partial<Results> = {}): Results => ({
  measurements,
  memory: [],
  startMs: [],
  warmUpRequests: 10_000,
  engine: 'SQLite',
  ...more,
})

const target = (results: Results, what: string) => {
  const found = targetsOf(results).find((each) => each.what === what)!
  return { value: found.value, met: isMet(found) }
}

describe('targetsOf', () => {
  it('compares round by round, so that a slow round does not count', () => {
    const rounds = [
      [1.4, 1],
      [16, 10],
      [1.8, 1],
    ] as const
    const measurements = rounds.flatMap(([product, bare], index) => [
      measured({ side: 'product', operation: 'get', round: index + 1, cpuMs: product }),
      measured({ side: 'B1', operation: 'get', round: index + 1, cpuMs: bare }),
    ])
    expect(target(resultsOf(measurements), 'get: CPU / B1')).toEqual({ value: 1.6, met: true })
  })

  it('has no bound for throughput', () => {
    const measurements = [
      measured({ side: 'product', operation: 'get', perSecond: 1 }),
      measured({ side: 'B1', operation: 'get', perSecond: 10 }),
    ]
    expect(target(resultsOf(measurements), 'get: throughput / B1')).toEqual({ value: 0.1, met: undefined })
  })

  it('adds up the CPU time of three publishers', () => {
    const measurements = [
      measured({ side: 'product', operation: 'publish', cpuMsOf: { publisher: 1, gateway: 9 } }),
      measured({
        side: 'three',
        operation: 'publish',
        cpuMsOf: { publisher: 0.5, 'publisher-2': 0.5, 'publisher-3': 0.5 },
      }),
    ]
    const { value } = target(resultsOf(measurements), 'publish: CPU of three publishers / of one')
    expect(value).toBe(1.5)
  })

  it('compares the p99 of an operation at 1,000,000 forms with that at 1,000', () => {
    const measurements = [
      measured({ side: 'product', operation: 'list', p99: 10 }),
      measured({ side: 'product', operation: 'list', p99: 16, forms: 1_000_000 }),
    ]
    const results = resultsOf(measurements)
    expect(target(results, 'list: p99 at 1,000,000 forms / at 1,000')).toEqual({ value: 1.6, met: false })
  })

  it('compares the list that reads no drafts with the whole one', () => {
    const measurements = [
      measured({ side: 'product', operation: 'light list of 1000', cpuMs: 21 }),
      measured({ side: 'product', operation: 'full list of 1000', cpuMs: 100 }),
    ]
    const found = target(resultsOf(measurements), 'light list of 1000: CPU / full list of 1000')
    expect(found).toEqual({ value: 0.21, met: false })
  })

  it('compares the largest RSS of a service with its bound', () => {
    const memory = [159, 161].map((mebibytes, index) => ({
      side: 'product' as const,
      forms: index,
      process: 'forms',
      after: '16 connections',
      rss: mebibytes * 2 ** 20,
      anonymous: 0,
    }))
    const results = resultsOf([measured({ side: 'product', operation: 'get' })], { memory })
    expect(target(results, 'forms: RSS after 16 connections')).toEqual({ value: 161, met: false })
    expect(target(results, 'forms: RSS after 64 × 4 MiB pages')).toEqual({ value: undefined, met: undefined })
  })

  it('compares only with the bare driver on MongoDB', () => {
    const measurements = [
      measured({ side: 'product', operation: 'publish', perSecond: 49 }),
      measured({ side: 'M', operation: 'publish', perSecond: 100 }),
    ]
    const results = resultsOf(measurements)
    const targets = targetsOf(results).filter(({ value }) => value !== undefined)
    expect(targets.map(({ what }) => what)).toEqual(['publish: CPU / M', 'publish: throughput / M'])
    expect(target(results, 'publish: throughput / M').value).toBe(0.49)
  })

  it('leaves out the value of a target that was not measured', () => {
    const results = resultsOf([measured({ side: 'product', operation: 'get' })])
    const values = targetsOf(results).map(({ value }) => value)
    expect(values.every((value) => value === undefined)).toBe(true)
  })
})

describe('verdictOf', () => {
  const kept = { what: 'get: CPU / B1', value: 1.75, atMost: 1.75 }
  const missed = { what: 'npm start until ready', value: 3.2, atMost: 3, unit: 's' } as const
  const others = [
    { what: 'get: throughput / B1', value: 0.1 },
    { what: 'live: CPU / B1', value: undefined, atMost: 1.75 },
  ]

  it('names what is missed, and leaves out what has no bound or was not measured', () => {
    expect(verdictOf([kept, missed, ...others])).toBe(
      '1 of 2 bounds are kept. Missed: npm start until ready (3.20 s, bound ≤ 3 s).',
    )
    expect(verdictOf([kept, ...others])).toBe('1 of 1 bounds are kept.')
  })
})

describe('spreadOf', () => {
  it('returns the median, and half the range as a share of the median', () => {
    expect(spreadOf([90, 100, 130])).toEqual({ median: 100, noise: 0.2 })
    expect(spreadOf([7])).toEqual({ median: 7, noise: 0 })
  })
})
