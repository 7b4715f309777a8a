import { describe, expect, it } from 'vitest'
import type { Cell, Measurement, Results } from './results.ts'
import { isMet, targetsOf } from './targets.ts'

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
  cores: 2,
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
      [70, 100],
      [8, 10],
      [90, 100],
    ] as const
    const measurements = rounds.flatMap(([product, bare], index) => [
      measured({ side: 'product', operation: 'get', round: index + 1, perSecond: product }),
      measured({ side: 'B1', operation: 'get', round: index + 1, perSecond: bare }),
    ])
    expect(target(resultsOf(measurements), 'get / B1')).toEqual({ value: 0.8, met: true })
  })

  it('scales the figures of a CMS to the machine', () => {
    const measurements = [
      measured({ side: 'product', operation: 'get', perSecond: 2_080 }),
      measured({ side: 'B0', operation: 'get', perSecond: 10_450 }),
    ]
    const { value, met } = target(resultsOf(measurements), 'get / CMS, scaled')
    expect(value).toBeCloseTo(20)
    expect(met).toBe(true)
  })

  it('judges three publishers by their CPU time when cores are few', () => {
    const measurements = [
      measured({ side: 'product', operation: 'publish', cpuMsOf: { publisher: 1, gateway: 9 } }),
      measured({
        side: 'three',
        operation: 'publish',
        cpuMsOf: { publisher: 0.5, 'publisher-2': 0.5, 'publisher-3': 0.5 },
        perSecond: 1.6,
      }),
    ]
    const few = target(resultsOf(measurements), '3 publishers / 1, by the CPU of the publishers')
    const many = target(resultsOf(measurements, { cores: 16 }), '3 publishers / 1')
    expect([few, many]).toEqual([
      { value: 2, met: true },
      { value: 1.6, met: true },
    ])
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
      measured({ side: 'product', operation: 'light list of 1000', perSecond: 49 }),
      measured({ side: 'product', operation: 'full list of 1000', perSecond: 10 }),
    ]
    const found = target(resultsOf(measurements), 'light list of 1000 / full list of 1000')
    expect(found).toEqual({ value: 4.9, met: false })
  })

  it('compares the largest RSS of a service with its bound', () => {
    const memory = [119, 121].map((mebibytes, index) => ({
      side: 'product' as const,
      forms: index,
      process: 'forms',
      after: '16 connections',
      rss: mebibytes * 2 ** 20,
      anonymous: 0,
    }))
    const results = resultsOf([measured({ side: 'product', operation: 'get' })], { memory })
    expect(target(results, 'forms: RSS after 16 connections')).toEqual({ value: 121, met: false })
    expect(target(results, 'forms: RSS after 64 × 4 MiB pages')).toEqual({ value: undefined, met: undefined })
  })

  it('compares only with the bare driver on MongoDB', () => {
    const measurements = [
      measured({ side: 'product', operation: 'publish', perSecond: 49 }),
      measured({ side: 'M', operation: 'publish', perSecond: 100 }),
    ]
    const results = resultsOf(measurements)
    const targets = targetsOf(results).filter(({ value }) => value !== undefined)
    expect(targets.map(({ what }) => what)).toEqual(['publish / M'])
    expect(target(results, 'publish / M')).toEqual({ value: 0.49, met: false })
  })

  it('leaves out the value of a target that was not measured', () => {
    const results = resultsOf([measured({ side: 'product', operation: 'get' })])
    const values = targetsOf(results).map(({ value }) => value)
    expect(values.every((value) => value === undefined)).toBe(true)
  })
})
