import { describe, expect, it } from 'vitest'
import { cpuMsOf, cpuMsOfStat, memoryOf, memoryOfStatus } from './processes.ts'

describe('processor time', () => {
  it('is user and system time, whatever the name of the process', () => {
    const stat = '4242 (node (x) 1) S 1 4242 4242 0 -1 4194560 9 0 0 0 150 25 0 0 20 0 11 0 9 9 9'
    expect(cpuMsOfStat(stat)).toBe(1750)
  })

  it('of a process that is gone is 0', () => {
    expect(cpuMsOf([2 ** 30])).toBe(0)
  })
})

describe('memory', () => {
  it('tells what is the own of a process from mapped files', () => {
    const status = 'Name:\tnode\nVmRSS:\t  102400 kB\nRssAnon:\t   40960 kB\nRssFile:\t   61440 kB\n'
    expect(memoryOfStatus(status)).toEqual({ rss: 100 * 2 ** 20, anonymous: 40 * 2 ** 20 })
  })

  it.runIf(process.platform === 'linux')('of this process is there', () => {
    expect(memoryOf(process.pid).rss).toBeGreaterThan(2 ** 20)
  })
})
