import { FormDraft, maxDraftBytes } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import { longestTaskMs } from '@fms/testkit/machine/cpu-time'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { DraftWriter } from './draft-writer.ts'

const inline = new DraftWriter(Number.POSITIVE_INFINITY)
const threaded = new DraftWriter(0, 1)
afterAll(() => threaded.close())

const alice = { organization: 'acme', user: 'alice' }

/** The form with the most items that fits a draft, as JSON. */
const largestDraft = (formOf: (items: number) => object): string => {
  const jsonOf = (items: number) => JSON.stringify(FormDraft.parse(formOf(items)))
  const bytesOfItem = (jsonOf(2_000).length - jsonOf(1_000).length) / 1_000
  const json = jsonOf(Math.floor((maxDraftBytes * 0.97) / bytesOfItem))
  expect(json.length).toBeGreaterThan(maxDraftBytes * 0.9)
  expect(json.length).toBeLessThan(maxDraftBytes)
  return json
}

const text = (members: object) => ({ steps: [{ type: 'text', key: 'q', ...members }] })
const number = (index: number) => `${100_000 + index}`

const numbered = (items: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: items }, (_, index) => [number(index), value]))

describe('DraftWriter.compare', () => {
  it('returns the same from a thread as from the calling thread', async () => {
    await fc.assert(
      fc.asyncProperty(draftArbitrary, draftArbitrary, fc.boolean(), async (from, to, toDraft) => {
        const comparison = { fromJson: JSON.stringify(from), toJson: JSON.stringify(to), toDraft }
        expect(await threaded.compare(comparison, alice)).toBe(await inline.compare(comparison, alice))
      }),
    )
  })

  it('leaves the event loop free while a thread compares the largest forms', async () => {
    const formOf = (title: string) => ({
      steps: Array.from({ length: 1000 }, (_, index) => ({ type: 'text', key: `q${index}`, title })),
    })
    const [fromJson, toJson] = ['a', 'b'].map((letter) =>
      JSON.stringify(FormDraft.parse(formOf(letter.repeat(700)))),
    ) as [string, string]
    const compare = async (writer: DraftWriter) => {
      const json = await writer.compare({ fromJson, toJson, toDraft: true }, alice)
      expect(json.length).toBeGreaterThan(1_400_000)
    }

    const inlineMs = await longestTaskMs(() => compare(inline))
    expect(await longestTaskMs(() => compare(threaded))).toBeLessThan(inlineMs / 2)
  })

  it.each<[string, (items: number) => object, (items: number) => object]>([
    ['members of a step', (items) => text(numbered(items, 1)), (items) => text(numbered(items, 2))],
    [
      'deep members',
      (items) => text({ more: nested(numbered(items, 1)) }),
      (items) => text({ more: nested(numbered(items, 2)) }),
    ],
    [
      'options',
      (items) => text({ options: Object.keys(numbered(items, 1)) }),
      (items) => text({ options: Object.keys(numbered(items, 1)).reverse() }),
    ],
    [
      'equal options',
      (items) => text({ options: Array(items).fill('a') }),
      (items) => text({ options: Array(items).fill('b') }),
    ],
    [
      'empty objects',
      (items) => text({ more: Array(items).fill({}) }),
      (items) => text({ more: Array(items).fill([]) }),
    ],
    [
      'locales',
      (items) => ({ i18n: { translations: numberedLocales(items, 'a') } }),
      (items) => ({ i18n: { translations: numberedLocales(items, 'b') } }),
    ],
  ])('has enough memory and a bounded result for the most %s', async (_, from, to) => {
    const comparison = { fromJson: largestDraft(from), toJson: largestDraft(to), toDraft: true }

    const json = await threaded.compare(comparison, alice)

    expect(json.length).toBeLessThan(4 * 1024 * 1024)
    expect(JSON.parse(json).changes).toHaveLength(1)
  })
})

const nested = (value: object): object => {
  let inner = value
  for (let depth = 0; depth < 55; depth++) inner = { a: inner }
  return inner
}

const numberedLocales = (items: number, letter: string) =>
  Object.fromEntries(Array.from({ length: items }, (_, index) => [`x-${letter}-${number(index)}`, {}]))
