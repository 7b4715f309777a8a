import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { countedLog } from './counted-log.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('logs at most once in a pause: the number of calls since its last line, and the latest error', () => {
  const log = vi.fn()
  const count = countedLog(60_000, log)

  for (const error of ['first', 'second', 'third']) count(error)
  vi.advanceTimersByTime(59_999)
  expect(log.mock.calls).toEqual([[1, 'first']])
  vi.advanceTimersByTime(120_000)
  count('fourth')

  expect(log.mock.calls).toEqual([
    [1, 'first'],
    [2, 'third'],
    [1, 'fourth'],
  ])
})
