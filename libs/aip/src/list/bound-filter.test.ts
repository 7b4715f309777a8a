import { describe, expect, it } from 'vitest'
import { ApiError } from '../errors.ts'
import type { FilterFields } from '../filter/index.ts'
import { readFilter } from './list-query.ts'

const fields: FilterFields = {
  fields: { name: { type: 'string' }, type: { type: 'enum', values: ['structured', 'dynamic'] } },
  search: 'name',
}

const read = (text: string) => readFilter(text, fields)

const refusal = (text: string) => {
  try {
    return read(text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.parts.fieldViolations!.map(({ field, description }) => `${field} ${description}`).join()
  }
}

describe('the number of conditions', () => {
  const joined = (count: number, condition: string, join = ' OR ') => Array(count).fill(condition).join(join)

  // decisions, section 4: "60 conditions work; more than 60, or more than 10 that need the text itself ..."
  it.each(['type = dynamic', 'name != x', 'name = x*', 'name = "x**"', 'name = *', '""', 'name:""'])(
    'is at most 60: %s',
    (condition) => {
      expect(read(joined(60, condition))).toBeDefined()
      expect(read(`-(${joined(30, condition)}) ${joined(30, condition, ' AND ')}`)).toBeDefined()
      expect(refusal(joined(61, condition))).toBe('filter has 61 conditions, where at most 60 are possible')
    },
  )

  it.each(['name:x', 'search("x")', 'x', '"x y"', 'name = *x', 'name = x*y', 'name != "*x*"'])(
    'is at most 10 where they need the text itself: %s',
    (condition) => {
      const others = joined(50, 'type = dynamic')
      expect(read(`${joined(10, condition)} AND ${others}`)).toBeDefined()
      expect(refusal(`-(${joined(6, condition)}) ${joined(5, condition)}`)).toBe(
        'filter has 11 text conditions, where at most 10 are possible',
      )
    },
  )
})
