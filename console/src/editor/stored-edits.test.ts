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

const ada = 'users/ada'

describe('unsaved edits', () => {
  it('are kept by form, also while they are no JSON', () => {
    const edits = storedEdits(ada, memory())

    expect(edits.write('organizations/o/forms/f', edit)).toBe(true)
    expect(edits.read('organizations/o/forms/f')).toEqual(edit)
    expect(edits.read('organizations/o/forms/g')).toBeUndefined()
  })

  it('are kept by ETag: a save in one tab leaves the edit of another', () => {
    let time = 0
    const edits = storedEdits(ada, memory(), () => time++)
    const other = { ...edit, etag: '"2"', text: '{"name": "C' }
    edits.write('f', edit)
    edits.write('f', other)

    expect(edits.read('f')).toEqual(other)
    edits.remove('f', other)
    expect(edits.read('f')).toEqual(edit)
  })

  it('are not removed by the save of a tab whose edit another tab has replaced', () => {
    const edits = storedEdits(ada, memory())
    const other = { ...edit, text: '{"name": "C' }
    edits.write('f', edit)
    edits.write('f', other)
    edits.remove('f', edit)

    expect(edits.read('f')).toEqual(other)
  })

  it('belong to one user', () => {
    const storage = memory()
    storedEdits(ada, storage).write('f', edit)
    const edits = storedEdits('users/bob', storage)

    expect([edits.read('f'), edits.count()]).toEqual([undefined, 0])
    edits.removeAll()
    expect(storedEdits(ada, storage).read('f')).toEqual(edit)
  })

  it('are counted by form and removed without what other pages have stored', () => {
    const storage = memory()
    const edits = storedEdits(ada, storage)
    for (const form of ['f', 'g', 'h']) edits.write(form, edit)
    edits.write('f', { ...edit, etag: '"2"' })
    edits.remove('h', edit)

    expect(edits.count()).toBe(2)
    edits.removeAll()
    expect([edits.count(), storage.length]).toEqual([0, 1])
  })

  it('report that there is no room', () => {
    expect(storedEdits(ada, memory(1)).write('f', edit)).toBe(false)
  })
})
