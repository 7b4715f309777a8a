import { describe, expect, it } from 'vitest'
import { sqlitePath } from './store-url.ts'

describe('sqlitePath', () => {
  it('is the part after sqlite:', () => {
    expect(sqlitePath('sqlite:.data/forms.db')).toBe('.data/forms.db')
    expect(sqlitePath('sqlite::memory:')).toBe(':memory:')
  })

  it('rejects another scheme without repeating the rest, which may contain a password', () => {
    expect(() => sqlitePath('mongodb://user:secret@host')).toThrow(/^Not a sqlite: URL: mongodb:…$/)
  })
})
