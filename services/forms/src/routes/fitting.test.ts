import { describe, expect, it } from 'vitest'
import { fitting } from './fitting.ts'

const ok = (body: string) => ({ status: 200, body })

describe('what fits into one answer', () => {
  it('leaves out what is too long for the rest, in UTF-8, and goes on behind it', () => {
    const [first, long, last] = [ok('12345'), ok('ééé'), ok('é345')]

    expect(fitting(10, [first, long, undefined, last])).toEqual([first, undefined, undefined, last])
  })

  it('keeps errors, which are counted and logged by now', () => {
    const error = { status: 404, body: 'longer than what is left' }

    expect(fitting(5, [ok('12345'), error])).toEqual([ok('12345'), error])
  })
})
