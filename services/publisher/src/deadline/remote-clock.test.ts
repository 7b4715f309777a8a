import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRemoteClock } from './remote-clock.ts'

const hourMs = 60 * 60 * 1000

/** A remote clock, and the server's with how often it was read. */
const startClock = () => {
  const server = { aheadMs: 0, reads: 0 }
  const clock = createRemoteClock(async () => {
    server.reads++
    return performance.now() + server.aheadMs
  })
  const fromNow = (ms: number) => clock.isPast(performance.now() + server.aheadMs + ms)
  return { server, clock, fromNow }
}

describe('a remote clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('extrapolates from one reading as long as no moment seems past', async () => {
    const { server, fromNow } = startClock()
    for (let i = 0; i < 3; i++) {
      vi.advanceTimersByTime(1_000)
      expect(await fromNow(10_000)).toBe(false)
    }
    expect(server.reads).toBe(1)
  })

  it('reports a moment as past once it is over', async () => {
    const { clock } = startClock()
    const moment = performance.now() + 1_000
    expect(await clock.isPast(moment)).toBe(false)
    vi.advanceTimersByTime(1_001)
    expect(await clock.isPast(moment)).toBe(true)
  })

  it.each([hourMs, -hourMs])('is unaffected when the local clock moves by %i ms', async (shift) => {
    const { fromNow } = startClock()
    expect(await fromNow(10_000)).toBe(false)
    vi.setSystemTime(Date.now() + shift)
    expect(await fromNow(10_000)).toBe(false)
  })

  it.each([hourMs, -hourMs])(
    "reports no moment as past when the server's clock moves by %i ms",
    async (shift) => {
      const { server, fromNow } = startClock()
      expect(await fromNow(10_000)).toBe(false)
      server.aheadMs += shift
      expect(await fromNow(10_000)).toBe(false)
    },
  )

  it('is never behind the real clock, however long a reading takes', async () => {
    const server = { aheadMs: hourMs }
    const clock = createRemoteClock(async () => {
      await new Promise((resolve) => setTimeout(resolve, 400))
      return performance.now() + server.aheadMs
    })
    const reading = clock.isPast(performance.now() + hourMs + 60_000)
    await vi.advanceTimersByTimeAsync(400)
    await reading
    expect(clock.seemsPast(performance.now() + hourMs - 1)).toBe(true)
    expect(clock.seemsPast(performance.now() + hourMs + 401)).toBe(false)
  })

  it('reports every moment as past before the first reading, and rejects if it cannot be read', async () => {
    const clock = createRemoteClock(async () => {
      throw new Error('away')
    })
    expect(clock.seemsPast(Number.MAX_SAFE_INTEGER)).toBe(true)
    await expect(clock.isPast(0)).rejects.toThrow('away')
  })
})
