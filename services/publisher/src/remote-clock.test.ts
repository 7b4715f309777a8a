import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createStreamClock } from './stream-clock.ts'

const hourMs = 60 * 60 * 1000

/** A stream clock, and the server's clock with how often it was asked. */
const startClock = () => {
  const server = { aheadMs: 0, asked: 0 }
  const clock = createStreamClock(async () => {
    server.asked++
    return performance.now() + server.aheadMs
  })
  const fromNow = (ms: number) => clock.isPast(performance.now() + server.aheadMs + ms)
  return { server, clock, fromNow }
}

describe("the stream's clock", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('counts on from one answer as long as nothing seems past', async () => {
    const { server, fromNow } = startClock()
    for (let i = 0; i < 3; i++) {
      vi.advanceTimersByTime(1_000)
      expect(await fromNow(10_000)).toBe(false)
    }
    expect(server.asked).toBe(1)
  })

  it('says past when the moment is over', async () => {
    const { clock } = startClock()
    const moment = performance.now() + 1_000
    expect(await clock.isPast(moment)).toBe(false)
    vi.advanceTimersByTime(1_001)
    expect(await clock.isPast(moment)).toBe(true)
  })

  it.each([hourMs, -hourMs])('makes nothing late when the clock here moves by %i ms', async (shift) => {
    const { fromNow } = startClock()
    expect(await fromNow(10_000)).toBe(false)
    vi.setSystemTime(Date.now() + shift)
    expect(await fromNow(10_000)).toBe(false)
  })

  it.each([hourMs, -hourMs])("makes nothing late when the server's clock moves by %i ms", async (shift) => {
    const { server, fromNow } = startClock()
    expect(await fromNow(10_000)).toBe(false)
    server.aheadMs += shift
    expect(await fromNow(10_000)).toBe(false)
  })
})
