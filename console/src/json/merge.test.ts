import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { patchBetween } from './merge-patch.ts'
import { mergeChanges } from './three-way-merge.ts'
import { isEqual, isObject, type JsonObject } from './values.ts'

const step = (key: string, title = key) => ({ type: 'text', key, title })

/** Applies a merge patch: the algorithm of RFC 7396 §2. */
const applied = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = applied(result[name], value)
  }
  return result
}

/** Objects without `null`, which a merge patch cannot store. */
const objects = fc
  .dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(
      fc.integer({ max: 3, min: 0 }),
      fc.dictionary(fc.constantFrom('x', 'y'), fc.integer({ max: 3, min: 0 }), { noNullPrototype: true }),
      fc.uniqueArray(fc.record({ key: fc.constantFrom('q', 'r', 's'), n: fc.integer({ max: 2, min: 0 }) }), {
        selector: ({ key }) => key,
      }),
    ),
    { noNullPrototype: true },
  )
  .map((value) => value as JsonObject)

describe('patchBetween', () => {
  it('gives a patch that turns one object into the other', () => {
    fc.assert(
      fc.property(objects, objects, (from, to) => {
        expect(applied(from, patchBetween(from, to))).toEqual(to)
      }),
    )
  })

  it('names only what differs', () => {
    const from = { name: 'A', tone: 'x', theme: { radius: 1, size: 2 }, steps: [step('q')] }
    const to = { name: 'A', theme: { radius: 1, size: 3 }, steps: [step('q')] }

    expect(patchBetween(from, to)).toEqual({ tone: null, theme: { size: 3 } })
  })

  it('keeps members whose names every object inherits', () => {
    const to = JSON.parse('{"__proto__": {"a": 1}, "theme": {"toString": "x", "__proto__": 2}}')

    expect(JSON.stringify(patchBetween({ theme: {} }, to))).toBe(
      '{"__proto__":{"a":1},"theme":{"toString":"x","__proto__":2}}',
    )
  })
})

describe('mergeChanges', () => {
  const mine = () => 'mine' as const
  const theirs = () => 'theirs' as const

  it('takes the changes of the only side that has some', () => {
    fc.assert(
      fc.property(objects, objects, (base, changed) => {
        expect(mergeChanges(base, changed, base, theirs)).toEqual({ merged: changed, conflicts: [] })
        expect(mergeChanges(base, base, changed, mine)).toEqual({ merged: changed, conflicts: [] })
        expect(isEqual(mergeChanges(base, changed, changed, theirs).merged, changed)).toBe(true)
      }),
    )
  })

  it('takes changes of different fields and different steps from both sides', () => {
    const base = { name: 'A', tone: 'x', steps: [step('q'), step('r'), step('s')] }
    const a = { name: 'B', tone: 'x', steps: [step('q', 'Mine'), step('r'), step('s'), step('new')] }
    const b = { name: 'A', tone: 'y', steps: [step('s'), step('q'), step('r', 'Theirs')] }

    expect(mergeChanges(base, a, b, mine)).toEqual({
      merged: {
        name: 'B',
        tone: 'y',
        steps: [step('s'), step('new'), step('q', 'Mine'), step('r', 'Theirs')],
      },
      conflicts: [],
    })
  })

  it('mixes no two different elements that both sides added with one key', () => {
    const base = { steps: [step('q')] }
    const [age, child] = [
      { key: 'age', type: 'text', title: 'Age' },
      { key: 'age', type: 'number', title: 'Age of the child', max: 12 },
    ]
    const a = { steps: [step('q'), age] }
    const b = { steps: [step('q'), child] }

    const { merged, conflicts } = mergeChanges(base, a, b, mine)

    expect(conflicts).toEqual([{ path: 'steps[age]', mine: age, theirs: child }])
    expect(merged).toEqual(a)
    const withDefaults = { steps: [step('q'), { ...age, required: false }] }
    expect(mergeChanges(base, a, withDefaults, mine)).toEqual({ merged: withDefaults, conflicts: [] })
  })

  it('lists what both sides changed, and takes the side that the caller chooses', () => {
    const base = { name: 'A', steps: [step('q'), step('r')] }
    const a = { name: 'B', steps: [step('q', 'Mine')] }
    const b = { name: 'C', steps: [step('q', 'Theirs'), step('r', 'Kept')] }

    const { merged, conflicts } = mergeChanges(base, a, b, (path) => (path === 'name' ? 'mine' : 'theirs'))

    expect(conflicts).toEqual([
      { path: 'name', mine: 'B', theirs: 'C' },
      { path: 'steps[q].title', mine: 'Mine', theirs: 'Theirs' },
      { path: 'steps[r]', mine: undefined, theirs: step('r', 'Kept') },
    ])
    expect(merged).toEqual({ name: 'B', steps: [step('q', 'Theirs'), step('r', 'Kept')] })
  })

  it('keeps members whose names every object inherits', () => {
    const side = (text: string) => JSON.parse(`{"toString": "${text}", "__proto__": {"a": "${text}"}}`)
    const { merged, conflicts } = mergeChanges({}, side('x'), side('y'), theirs)

    expect(JSON.stringify(merged)).toBe(JSON.stringify(side('y')))
    expect(conflicts).toEqual([
      { path: 'toString', mine: 'x', theirs: 'y' },
      { path: '__proto__.a', mine: 'x', theirs: 'y' },
    ])
  })
})
