import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { recordDigest } from './record-digest.ts'

const record = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ stringUnit: anyCharacter }))

/** The same members in the opposite order, at every depth. */
const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).reverse()
  return Object.fromEntries(members.map(([name, member]) => [name, reversed(member)]))
}

const text = (value: unknown) => JSON.stringify(value)

describe('recordDigest', () => {
  it('does not depend on the order of members, or on serialization as JSON', () => {
    fc.assert(
      fc.property(record, (value) => {
        expect(recordDigest(reversed(value) as object)).toBe(recordDigest(value))
        expect(recordDigest(JSON.parse(text(value)))).toBe(recordDigest(value))
      }),
    )
  })

  it('differs for different records', () => {
    const different = [
      {},
      { a: null },
      { a: [] },
      { a: '' },
      { a: ['1', '2'] },
      { a: ['12'] },
      { a: [['1', '2']] },
      { a: 0 },
      { a: '0' },
      { a: { b: 0 } },
      { b: { a: 0 } },
      { a: [], b: [] },
      { a: [[]], b: 1 },
    ]

    expect(new Set(different.map(recordDigest)).size).toBe(different.length)
  })

  it('ignores undefined members, as JSON does', () => {
    expect(recordDigest({ a: 1, b: undefined })).toBe(recordDigest({ a: 1 }))
  })
})
