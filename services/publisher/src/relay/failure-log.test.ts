import { ApiError } from '@fms/aip'
import { expect, it } from 'vitest'
import { createFailureLog } from './failure-log.ts'

it('logs each text at most once a minute, with the number of failures since its last line', () => {
  let nowMs = 0
  const lines: [string, number][] = []
  const logger = { error: ({ failures }: { failures: number }, text: string) => lines.push([text, failures]) }
  const logFailure = createFailureLog(logger as never, () => nowMs)

  for (const afterMs of [0, 1, 59_999, 60_000, 60_001]) {
    nowMs = afterMs
    logFailure('first', new Error('away'))
  }
  logFailure('second', new Error('away'))
  logFailure('third', new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'has a line of its own'))

  expect(lines).toEqual([
    ['first', 1],
    ['first', 3],
    ['second', 1],
  ])
})
