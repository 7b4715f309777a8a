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
const form = 'organizations/o/forms/f'
/** The fields of the form as the service has them. */
const saved = { name: 'A' }
const none: ReadonlySet<string> = new Set()

/** The edits of several tabs of a browser. Each write is later than the ones before. */
const tabsOf = (storage = memory(), user = ada) => {
  let time = 0
  return (tab: string) => storedEdits(user, tab, storage, () => time++)
}

describe('unsaved edits', () => {
  it('are kept by form, also while they are no JSON, and taken once', () => {
    const edits = tabsOf()('tab')

    expect(edits.write(form, edit)).toBe(true)
    expect([edits.has(form, saved), edits.has('organizations/o/forms/g', saved)]).toEqual([true, false])
    expect(edits.take('organizations/o/forms/g', saved, none)).toBeUndefined()
    expect(edits.take(form, saved, none)).toEqual({ edit, hasMore: false })
    expect(edits.take(form, saved, none)).toBeUndefined()
  })

  it('of two tabs with the same state of a form are both kept, and offered one after the other', () => {
    const tab = tabsOf()
    const other = { ...edit, text: '{"name": "C' }
    tab('first').write(form, edit)
    tab('second').write(form, other)

    expect(tab('third').take(form, saved, none)).toEqual({ edit: other, hasMore: true })
    expect(tab('third').take(form, saved, none)).toEqual({ edit, hasMore: false })
  })

  it('of this tab come first, and those of other open tabs stay with them', () => {
    const tab = tabsOf()
    const open = new Set(['first', 'second'])
    const other = { ...edit, text: '{"name": "C' }
    tab('first').write(form, edit)
    tab('second').write(form, other)
    tab('closed').write(form, other)

    expect(tab('first').take(form, saved, open)).toEqual({ edit, hasMore: true })
    expect(tab('second').take(form, saved, open)).toEqual({ edit: other, hasMore: true })
  })

  it('of this tab are removed without those of another one', () => {
    const tab = tabsOf()
    tab('first').write(form, edit)
    tab('second').write(form, edit)
    tab('first').remove(form)

    expect(tab('third').take(form, saved, none)).toEqual({ edit, hasMore: false })
  })

  it('belong to one user', () => {
    const storage = memory()
    const own = tabsOf(storage)('tab')
    own.write(form, edit)
    const edits = tabsOf(storage, 'users/bob')('tab')

    expect([edits.take(form, saved, none), edits.count()]).toEqual([undefined, 0])
    edits.removeAll()
    expect(own.has(form, saved)).toBe(true)
  })

  it('are counted by form, and removed without those of other tabs', () => {
    const storage = memory()
    const tab = tabsOf(storage)
    for (const path of ['f', 'g', 'h']) tab('first').write(path, edit)
    tab('second').write('f', edit)
    tab('first').remove('h')

    expect(tab('first').count()).toBe(2)
    tab('first').removeAll()
    expect([tab('first').count(), storage.length]).toEqual([0, 1])
  })

  it('report that there is no room', () => {
    expect(tabsOf(memory(1))('tab').write(form, edit)).toBe(false)
  })

  it('are none if the form has them, such as after a save whose response was lost', () => {
    const tab = tabsOf()
    const start = { type: 'start', key: 's' }
    const text = JSON.stringify({ name: 'B', steps: [start] })
    tab('first').write(form, { etag: '"1"', base: { name: 'A', steps: [] }, text })
    const withDefaults = { name: 'B', tone: 'calm', steps: [{ ...start, title: '' }] }
    const other = { ...withDefaults, name: 'C' }

    expect([saved, other, withDefaults].map((fields) => tab('first').has(form, fields))).toEqual([
      true,
      true,
      false,
    ])
    expect(tab('first').take(form, withDefaults, none)).toBeUndefined()
    expect(tab('first').take(form, saved, none)).toBeUndefined()
  })

  it.each(['{', 'null', '{}', '{"etag": "1", "base": 1, "text": "", "time": 1}'])(
    'are none if the storage has %s',
    (damaged) => {
      const storage = memory()
      const edits = tabsOf(storage)('tab')
      edits.write(form, edit)
      storage.setItem(storage.key(1)!, damaged)

      expect(edits.has(form, saved)).toBe(false)
      expect(edits.take(form, saved, none)).toBeUndefined()
      expect(storage.length).toBe(1)
    },
  )
})
