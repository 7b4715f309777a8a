import { describe, expect, it } from 'vitest'
import { storedEdits } from './stored-edits.ts'

/** A storage in memory. @param limit most entries */
const memory = (limit = 10) => {
  const entries = new Map<string, string>([['of another page', 'x']])
  return {
    getItem: (name: string) => entries.get(name) ?? null,
    setItem: (name: string, value: string) => {
      if (!entries.has(name) && entries.size >= limit) throw new DOMException('full', 'QuotaExceededError')
      entries.set(name, value)
    },
    removeItem: (name: string) => void entries.delete(name),
    key: (index: number) => [...entries.keys()][index] ?? null,
    get length() {
      return entries.size
    },
  }
}
const edit = { etag: '"1"', base: { name: 'A' }, text: '{"name": "B' }

describe('unsaved edits', () => {
  it('are kept by form, also while they are no JSON', () => {
    const edits = storedEdits(memory())

    expect(edits.write('organizations/o/forms/f', edit)).toBe(true)
    expect(edits.read('organizations/o/forms/f')).toEqual(edit)
    expect(edits.read('organizations/o/forms/g')).toBeUndefined()
  })

  it('are counted and removed without what other pages have stored', () => {
    const storage = memory()
    const edits = storedEdits(storage)
    for (const form of ['f', 'g', 'h']) edits.write(form, edit)
    edits.remove('h')

    expect(edits.count()).toBe(2)
    edits.removeAll()
    expect([edits.count(), storage.length]).toEqual([0, 1])
  })

  it('report that there is no room', () => {
    expect(storedEdits(memory(1)).write('f', edit)).toBe(false)
  })
})
