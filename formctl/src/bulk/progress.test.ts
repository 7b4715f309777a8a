import { expect, it } from 'vitest'
import { timeLeft } from './progress.ts'

it.each([
  ['NULL', 'estimating the time'],
  [0, '0 s left'],
  [61, '65 s left'],
  [90, '2 min left'],
  [5_369, '89 min left'],
  [9_000, '2 h 30 min left'],
])('shows %s seconds as "%s"', (seconds, text) => {
  expect(timeLeft(seconds, 3_000)).toBe(text)
  expect(timeLeft(seconds, 2_999)).toBe('estimating the time')
})
