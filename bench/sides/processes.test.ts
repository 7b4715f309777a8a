import { describe, expect, it } from 'vitest'
import { cpuMsOf, cpuMsOfStat, memoryOf, memoryOfStatus } from './processes.ts'

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
