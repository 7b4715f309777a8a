import { describe, expect, it } from 'vitest'
import { storedEdits } from './stored-edits.ts'

/** A storage in memory: its own properties are its entries. */
class Memory {
  #limit
  /** @param limit most entries */
  constructor(limit = 10) {
    this.#limit = limit
    this.setItem('of another page', 'x')
  }
  getItem(name: string) {
    return (this as unknown as Record<string, string>)[name] ?? null
  }
  setItem(name: string, value: string) {
    if (Object.keys(this).length >= this.#limit) throw new DOMException('full', 'QuotaExceededError')
    Object.assign(this, { [name]: value })
  }
  removeItem(name: string) {
    delete (this as unknown as Record<string, string>)[name]
  }
}

const ada = 'users/ada'
const form = 'organizations/o/forms/f'
/** The fields of the form as the service has them. */
const saved = { name: 'A' }
const edit = { etag: '"1"', base: saved, fields: { name: 'B' } }

const given = ({ storage = new Memory(), user = ada } = {}) =>
  storedEdits(user, storage as unknown as Storage)

describe('unsaved edits', () => {
  it.each([edit, { ...edit, fields: saved, text: '{"name": "B' }])('are kept by form: %j', (kept) => {
    const edits = given()

    expect(edits.write(form, kept)).toBe(true)
    expect(edits.read('organizations/o/forms/g', saved)).toBeUndefined()
    expect(edits.read(form, saved)).toEqual(kept)
    edits.remove(form)
    expect(edits.read(form, saved)).toBeUndefined()
  })

  it('are counted and removed, of one user alone', () => {
    const storage = new Memory()
    const own = given({ storage })
    for (const path of ['f', 'g']) own.write(path, edit)
    const others = given({ storage, user: 'users/bob' })
    others.write('f', edit)

    expect([own.count(), others.count()]).toEqual([2, 1])
    own.removeAll()
    expect([own.count(), others.count(), Object.keys(storage).length]).toEqual([0, 1, 2])
  })

  it('report that there is no room', () => {
    expect(given({ storage: new Memory(1) }).write(form, edit)).toBe(false)
  })

  it('are none if the form has them, such as after a save whose response was lost', () => {
    const edits = given()
    const start = { type: 'start', key: 's' }
    edits.write(form, { etag: '"1"', base: { name: 'A', steps: [] }, fields: { name: 'B', steps: [start] } })
    const withDefaults = { name: 'B', tone: 'calm', steps: [{ ...start, title: '' }] }
    const other = { ...withDefaults, name: 'C' }

    expect([saved, other, withDefaults].map((fields) => edits.read(form, fields) !== undefined)).toEqual([
      true,
      true,
      false,
    ])
  })

  it.each(['{', 'null', '{}', '{"etag": "1", "base": 1, "fields": {}}'])(
    'are none if the storage has %s',
    (damaged) => {
      const storage = new Memory()
      const edits = given({ storage })
      edits.write(form, edit)
      storage.setItem(Object.keys(storage)[1]!, damaged)

      expect(edits.read(form, saved)).toBeUndefined()
    },
  )
})
