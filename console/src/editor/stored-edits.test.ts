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
    expect([edits.has(form), edits.has('organizations/o/forms/g')]).toEqual([true, false])
    expect(edits.take('organizations/o/forms/g', none)).toBeUndefined()
    expect(edits.take(form, none)).toEqual({ edit, hasMore: false })
    expect(edits.take(form, none)).toBeUndefined()
  })

  it('of two tabs with the same state of a form are both kept, and offered one after the other', () => {
    const tab = tabsOf()
    const other = { ...edit, text: '{"name": "C' }
    tab('first').write(form, edit)
    tab('second').write(form, other)

    expect(tab('third').take(form, none)).toEqual({ edit: other, hasMore: true })
    expect(tab('third').take(form, none)).toEqual({ edit, hasMore: false })
  })

  it('of this tab come first, and those of other open tabs stay with them', () => {
    const tab = tabsOf()
    const open = new Set(['first', 'second'])
    const other = { ...edit, text: '{"name": "C' }
    tab('first').write(form, edit)
    tab('second').write(form, other)
    tab('closed').write(form, other)

    expect(tab('first').take(form, open)).toEqual({ edit, hasMore: true })
    expect(tab('second').take(form, open)).toEqual({ edit: other, hasMore: true })
  })

  it('of this tab are removed without those of another one', () => {
    const tab = tabsOf()
    tab('first').write(form, edit)
    tab('second').write(form, edit)
    tab('first').remove(form)

    expect(tab('third').take(form, none)).toEqual({ edit, hasMore: false })
  })

  it('belong to one user', () => {
    const storage = memory()
    const own = tabsOf(storage)('tab')
    own.write(form, edit)
    const edits = tabsOf(storage, 'users/bob')('tab')

    expect([edits.take(form, none), edits.count()]).toEqual([undefined, 0])
    edits.removeAll()
    expect(own.has(form)).toBe(true)
  })

  it('are counted by form and removed without what other pages have stored', () => {
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
})
