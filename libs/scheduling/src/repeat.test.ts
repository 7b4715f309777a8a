import { describe, expect, it, vi } from 'vitest'
import { repeat } from './repeat.ts'

const intervalMs = 1_000

/** Work whose runs a test ends. */
const givenWork = () => {
  const runs: PromiseWithResolvers<void>[] = []
  const errors: unknown[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  const start = (debounceMs?: number) => repeat(intervalMs, work, (error) => errors.push(error), debounceMs)
  return { runs, errors, start }
}

/** Lets promises settle without advancing the clock. */
const settle = () => vi.advanceTimersByTimeAsync(0)

describe('repeat', () => {
  it('runs now, and again after each pause', async () => {
    vi.useFakeTimers()
    using _ = { [Symbol.dispose]: () => vi.useRealTimers() }
    const { runs, start } = givenWork()
    const repeating = start()
    expect(runs).toHaveLength(1)

    runs[0]!.resolve()
    await vi.advanceTimersByTimeAsync(0.69 * intervalMs)
    expect(runs).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(0.31 * intervalMs)
    expect(runs).toHaveLength(2)

    runs[1]!.resolve()
    await repeating.stop()
  })

  it('ends the pause when it is woken', async () => {
    vi.useFakeTimers()
    using _ = { [Symbol.dispose]: () => vi.useRealTimers() }
    const { runs, start } = givenWork()
    const repeating = start()
    runs[0]!.resolve()
    await settle()

    repeating.wake()

    await settle()
    expect(runs).toHaveLength(2)
    runs[1]!.resolve()
    await repeating.stop()
  })

  it('gathers wakes before a run, and later ones do not postpone it', async () => {
    vi.useFakeTimers()
    using _ = { [Symbol.dispose]: () => vi.useRealTimers() }
    const { runs, start } = givenWork()
    const repeating = start(20)
    runs[0]!.resolve()
    await settle()

    repeating.wake()
    await vi.advanceTimersByTimeAsync(19)
    repeating.wake()
    await settle()
    expect(runs).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)

    expect(runs).toHaveLength(2)
    runs[1]!.resolve()
    await repeating.stop()
  })

  it('runs once more if it is woken during a run, however often', async () => {
    vi.useFakeTimers()
    using _ = { [Symbol.dispose]: () => vi.useRealTimers() }
    const { runs, start } = givenWork()
    const repeating = start()

    for (let wakes = 0; wakes < 3; wakes++) repeating.wake()
    runs[0]!.resolve()
    await settle()
    runs[1]!.resolve()
    await settle()

    expect(runs).toHaveLength(2)
    await repeating.stop()
  })

  it('waits for the whole pause after an error', async () => {
    vi.useFakeTimers()
    using _ = { [Symbol.dispose]: () => vi.useRealTimers() }
    const { runs, errors, start } = givenWork()
    const repeating = start()
    repeating.wake()
    runs[0]!.reject(new Error('away'))
    await settle()

    repeating.wake()
    await settle()

    expect(runs).toHaveLength(1)
    expect(errors).toEqual([new Error('away')])
    await vi.advanceTimersByTimeAsync(intervalMs)
    expect(runs).toHaveLength(2)
    runs[1]!.resolve()
    await repeating.stop()
  })

  it('waits for the current run when it stops', async () => {
    const { runs, start } = givenWork()
    const repeating = start()
    let isStopped = false
    const stopped = repeating.stop().then(() => {
      isStopped = true
    })
    repeating.wake()

    await new Promise(setImmediate)
    expect(isStopped).toBe(false)
    runs[0]!.resolve()
    await stopped

    expect(runs).toHaveLength(1)
  })
})
