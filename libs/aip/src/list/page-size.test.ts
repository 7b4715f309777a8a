import { describe, expect, it } from 'vitest'
import type { ApiError } from '../errors.ts'
import { parsePageSize, parseSkip } from './list-query.ts'

const notDigits = [
  '',
  ' ',
  '-1',
  '-0',
  '+1',
  '1.5',
  '1.0',
  '1e3',
  '0x10',
  ' 1',
  '1\n',
  '１',
  'ten',
  'NaN',
  'Infinity',
]

const violationsOf = (parse: () => unknown) => {
  try {
    return parse()
  } catch (error) {
    return (error as ApiError).parts.fieldViolations
  }
}

describe('parsePageSize', () => {
  it.each([
    [undefined, 10],
    ['0', 10],
    ['000', 10],
    ['1', 1],
    ['007', 7],
    ['1000', 1000],
    ['1001', 1000],
    ['9007199254740991', 1000],
  ])('reads %j as %d', (text, value) => {
    expect(parsePageSize(text)).toBe(value)
  })

  it.each([...notDigits, '9007199254740992', '9007199254740993', '9'.repeat(400)])('refuses %j', (text) => {
    expect(violationsOf(() => parsePageSize(text))).toEqual([
      {
        field: 'pageSize',
        description: 'must be a whole number from 0 to 9007199254740991, in decimal digits',
      },
    ])
  })
})

describe('parseSkip', () => {
  it.each([
    [undefined, 0],
    ['0', 0],
    ['012', 12],
    ['2147483647', 2147483647],
  ])('reads %j as %d', (text, value) => {
    expect(parseSkip(text)).toBe(value)
  })

  it.each([...notDigits, '2147483648', '9'.repeat(400)])('refuses %j', (text) => {
    expect(violationsOf(() => parseSkip(text))).toEqual([
      { field: 'skip', description: 'must be a whole number from 0 to 2147483647, in decimal digits' },
    ])
  })
})
