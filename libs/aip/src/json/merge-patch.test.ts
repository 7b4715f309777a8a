import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from './json.ts'
import { mergePatch } from './merge-patch.ts'

const asJson = (value: Json) => JSON.parse(JSON.stringify(value))

/** The algorithm of RFC 7396 §2, on a copy and with null-prototype objects. */
const rfc7396 = (target: unknown, patch: unknown): unknown => {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result = Object.create(null)
  if (typeof target === 'object' && target !== null && !Array.isArray(target)) {
    for (const name of Object.keys(target)) result[name] = (target as Record<string, unknown>)[name]
  }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = rfc7396(result[name], value)
  }
  return result
}

const json = fc
  .letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<Json>(null, true, 0, 'text'),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c', 'toString', '__proto__'), tie('json'), { maxKeys: 4 }),
    ),
  }))
  .json.map(asJson)

describe('mergePatch', () => {
  it.each<[Json, Json, Json]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('turns %j by %j into %j (RFC 7396 appendix A)', (target, patch, result) => {
    expect(asJson(mergePatch(target, patch))).toStrictEqual(result)
  })

  it('keeps the names of removed members at every depth', () => {
    const merged = mergePatch({ name: 'Intake' }, { name: null, nmae: null, theme: { colour: null } })
    expect(merged).toStrictEqual({ name: undefined, nmae: undefined, theme: { colour: undefined } })
  })

  it('treats __proto__ as an ordinary name', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"admin": true}, "a": {"__proto__": null}}'))
    expect((merged as Record<string, unknown>).admin).toBeUndefined()
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype)
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"admin":true},"a":{}}')
  })

  it('does not merge into inherited properties', () => {
    expect(mergePatch({}, { toString: { a: 1 } })).toStrictEqual({ toString: { a: 1 } })
  })

  it('gives the result of the algorithm in RFC 7396 and does not change its arguments', () => {
    fc.assert(
      fc.property(json, json, (target, patch) => {
        const before = JSON.stringify([target, patch])
        const merged = mergePatch(target, patch)
        expect(JSON.stringify(merged)).toBe(JSON.stringify(rfc7396(target, patch)))
        expect(JSON.stringify([target, patch])).toBe(before)
      }),
      { numRuns: 2000 },
    )
  })

  it('gives the same result after any sequence of patches, with or without storing JSON in between', () => {
    fc.assert(
      fc.property(json, fc.array(json, { maxLength: 6 }), (start, patches) => {
        const kept = patches.reduce(mergePatch, start)
        const stored = patches.reduce((target, patch) => asJson(mergePatch(target, patch)), start)
        const oracle = patches.reduce<unknown>(rfc7396, start)
        expect(asJson(kept)).toStrictEqual(stored)
        expect(asJson(oracle as Json)).toStrictEqual(stored)
      }),
      { numRuns: 1000 },
    )
  })
})
