import { describe, expect, it } from 'vitest'
import { type Measurement, type Results, targetsOf, verdictOf } from './report.ts'
import { cpuMsOf, cpuMsOfStat, memoryOf, memoryOfStatus } from './sides/processes.ts'

const measured = (fields: Partial<Measurement> & Pick<Measurement, 'side' | 'operation'>): Measurement => ({
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

const target = (what: string, measurements: Measurement[], more: Partial<Results> = {}) =>
  targetsOf({ measurements, memory: [], startMs: [], engine: 'SQLite', ...more }).find(
    (each) => each.what === what,
  )!.value

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
    expect(target('get: CPU / B1', measurements)).toBe(1.6)
  })

  it('compares the p99 of an operation at 1,000,000 forms with that at 1,000', () => {
    const measurements = [
      measured({ side: 'product', operation: 'list', p99: 10 }),
      measured({ side: 'product', operation: 'list', p99: 16, forms: 1_000_000 }),
    ]
    expect(target('list: p99 at 1,000,000 forms / at 1,000', measurements)).toBe(1.6)
  })

  it('takes the largest RSS of a service', () => {
    const memory = [159, 161].map((mebibytes, index) => ({
      side: 'product' as const,
      forms: index,
      process: 'forms',
      after: '16 connections',
      rss: mebibytes * 2 ** 20,
      anonymous: 0,
    }))
    const measurements = [measured({ side: 'product', operation: 'get' })]
    expect(target('forms: RSS in MiB after 16 connections', measurements, { memory })).toBe(161)
  })
})

describe('verdictOf', () => {
  const kept = { what: 'get: CPU / B1', value: 1.75, atMost: 1.75 }
  const missed = { what: 'npm start until ready in s', value: 3.2, atMost: 3 }
  const unknown = { what: 'live: CPU / B1', value: undefined, atMost: 1.75 }

  it('names what is missed, and leaves out what was not measured', () => {
    expect(verdictOf([kept, missed, unknown])).toBe(
      '1 of 2 bounds are kept. Missed: npm start until ready in s: 3.20 instead of 3.',
    )
    expect(verdictOf([kept, unknown])).toBe('1 of 1 bounds are kept.')
  })
})

describe('cpuMsOf', () => {
  it('adds user and system time, also for a process name with parentheses', () => {
    const stat = '4242 (node (x) 1) S 1 4242 4242 0 -1 4194560 9 0 0 0 150 25 0 0 20 0 11 0 9 9 9'
    expect(cpuMsOfStat(stat)).toBe(1750)
  })

  it('is 0 for a process that has exited', () => {
    expect(cpuMsOf([2 ** 30])).toBe(0)
  })
})

describe('memoryOf', () => {
  it('separates anonymous memory from mapped files', () => {
    const status = 'Name:\tnode\nVmRSS:\t  102400 kB\nRssAnon:\t   40960 kB\nRssFile:\t   61440 kB\n'
    expect(memoryOfStatus(status)).toEqual({ rss: 100 * 2 ** 20, anonymous: 40 * 2 ** 20 })
  })

  it.runIf(process.platform === 'linux')('reads the memory of this process', () => {
    expect(memoryOf(process.pid).rss).toBeGreaterThan(2 ** 20)
  })
})
