import type { Json, JsonObject } from '@fms/aip'
import { type FormChange, FormDraft } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDrafts } from './compare-drafts.ts'
import { applyChanges } from './testing/apply-changes.ts'
import { draftPairArbitrary } from './testing/draft-pair.arbitrary.ts'

const draftOf = (fields: object = {}): FormDraft => FormDraft.parse(fields)
const withSteps = (...steps: object[]): FormDraft => draftOf({ steps })
const text = (key: string, more: object = {}) => ({ type: 'text', key, ...more })
const choice = (...options: unknown[]): FormDraft => withSteps({ type: 'choice', key: 'q', options })

const compare = (from: object, to: object): FormChange[] =>
  compareDrafts(from as JsonObject, to as JsonObject)

/** Each change in short: its kind, its field, and how it is breaking. */
const inShort = (from: object, to: object): string[] =>
  compare(from, to).map(({ kind, field, breaking }) => `${kind} ${field}${breaking ? ` ${breaking}` : ''}`)

/** Fails unless `changes` applied to `from` give `to`. */
const expectComplete = (from: object, to: object, changes = compare(from, to)) =>
  expect(applyChanges(from, changes)).toEqual(to)

describe('compareDrafts', () => {
  it('has all changes: applied to the former state, they give the later one', () => {
    const seen = new Set<string>()
    fc.assert(
      fc.property(draftPairArbitrary, ([from, to]) => {
        const changes = compare(from, to)
        expectComplete(from, to, changes)
        for (const { kind, breaking } of changes) seen.add(kind).add(`${breaking}`)
      }),
      { numRuns: 200 },
    )
    const kinds = ['ADDED', 'REMOVED', 'CHANGED', 'MOVED']
    const breaking = ['STEP_REMOVED', 'STEP_TYPE_CHANGED', 'OPTION_REMOVED', 'undefined']
    expect([...seen].sort()).toEqual([...kinds, ...breaking].sort())
  })

  it('has the same fields in the opposite direction, with before and after exchanged, and as many moves', () => {
    const opposites: Record<string, string> = { ADDED: 'REMOVED', REMOVED: 'ADDED' }
    const withoutIndexes = (field: string) => field.replace(/\[\d+\]/g, '[]')
    const summary = ({ kind, field, fromPointer, toPointer, before, after }: FormChange) =>
      kind === 'MOVED'
        ? kind
        : JSON.stringify([kind, withoutIndexes(field), fromPointer, toPointer, before, after])
    const exchanged = (change: FormChange) =>
      ({
        ...change,
        kind: opposites[change.kind] ?? change.kind,
        fromPointer: change.toPointer,
        toPointer: change.fromPointer,
        before: change.after,
        after: change.before,
      }) as FormChange

    fc.assert(
      fc.property(draftPairArbitrary, ([from, to]) => {
        const there = compare(from, to).map(summary)
        const back = compare(to, from).map(exchanged).map(summary)
        expect(back.sort()).toEqual(there.sort())
      }),
      { numRuns: 200 },
    )
  })

  it('finds nothing between two texts of the same JSON value', () => {
    fc.assert(
      fc.property(draftPairArbitrary, ([draft]) => {
        const other = JSON.parse(JSON.stringify(draft, (_, value) => inReverse(value)))
        expect(compare(draft, other)).toEqual([])
      }),
    )
    const [from, to] = ['{"theme": {"buttonRadiusPx": 1}}', '{"theme":{"buttonRadiusPx":1.0e0}}']
    expect(compare(JSON.parse(from), JSON.parse(to))).toEqual([])
  })

  it('reports members with their former and later value, in the order of their names', () => {
    const to = draftOf({ name: 'b', theme: { textSize: 'large', buttonRadiusPx: 3 }, context: ['a', 'b'] })

    expect(compare(draftOf({ context: ['a'] }), to)).toEqual([
      changed('context', ['a'], ['a', 'b']),
      changed('name', 'Untitled form', 'b'),
      changed('theme.buttonRadiusPx', 8, 3),
      changed('theme.textSize', 'regular', 'large'),
    ])
  })

  it('ignores output-only fields', () => {
    expect(compare({ ...draftOf(), live: true, replyCount: 3, updateTime: 'x' }, draftOf())).toEqual([])
  })

  it('takes the default for a member that a snapshot of an earlier release lacks', () => {
    const { voice: _, ...earlier } = draftOf({ name: 'a' })

    expect(inShort({ ...earlier, steps: [{ type: 'start', key: 's' }] }, draftOf({ name: 'a' }))).toEqual([
      'REMOVED form.steps[0]',
    ])
  })

  it('compares a snapshot that the current rules reject as it is', () => {
    const refused = { ...draftOf(), theme: 'dark', later: 1, createTime: 'x' }

    expect(inShort(refused, draftOf())).toEqual(['REMOVED form.later', 'CHANGED form.theme'])
    expectComplete(refused, { ...draftOf(), createTime: 'x' })
  })

  it('reports branches, backgrounds, services and other arrays as a whole', () => {
    const branches = [{ groups: [], targetStepKey: 'q' }]
    const from = withSteps(text('q', { branches, rows: [1, 2] }))
    const to = withSteps(text('q', { branches: [], rows: [2] }))

    expect(compare(from, to)).toEqual([
      changed('steps[0].branches', branches, [], '/steps/0/branches'),
      changed('steps[0].rows', [1, 2], [2], '/steps/0/rows'),
    ])
  })

  it('matches translations by locale and step key', () => {
    const i18n = (translations: object) => draftOf({ i18n: { translations } })
    const from = i18n({ de: { steps: { q: { title: { value: 'Eins' } } } }, fr: {} })
    const to = i18n({ de: { steps: { q: { title: { value: 'Zwei' } }, r: {} } }, 'pt-BR': {} })

    expect(inShort(from, to)).toEqual([
      'CHANGED form.i18n.translations.de.steps.q.title.value',
      'ADDED form.i18n.translations.de.steps.r',
      'REMOVED form.i18n.translations.fr',
      'ADDED form.i18n.translations.pt-BR',
    ])
  })

  it('escapes names in pointers (RFC 6901), and cuts off a long field', () => {
    const name = `${'n'.repeat(600)}/~`
    const [change] = compare(withSteps(text('q')), withSteps(text('q', { [name]: 1 })))

    expect(change).toMatchObject({ kind: 'ADDED', toPointer: `/steps/0/${'n'.repeat(600)}~1~0`, after: 1 })
    expect(change).not.toHaveProperty('before')
    expect(change!.field).toMatch(/^form\.steps\[0\]\.n{486}…$/)
  })
})

describe('steps', () => {
  it('are matched by key: first the removed ones, then the others in their later order', () => {
    const from = withSteps(text('a'), text('b'), text('c'), text('d'))
    const to = withSteps(text('n'), text('d', { title: 'D' }), text('a'))

    expect(compare(from, to)).toEqual([
      removed('steps[1]', text('b'), 'STEP_REMOVED'),
      removed('steps[2]', text('c'), 'STEP_REMOVED'),
      { kind: 'ADDED', field: 'form.steps[0]', toPointer: '/steps/0', after: text('n') },
      { kind: 'MOVED', field: 'form.steps[1]', fromPointer: '/steps/3', toPointer: '/steps/1' },
      {
        kind: 'ADDED',
        field: 'form.steps[1].title',
        toPointer: '/steps/1/title',
        after: 'D',
      },
    ])
  })

  it('are moved as seldom as possible', () => {
    const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    fc.assert(
      fc.property(
        fc.shuffledSubarray(keys, { minLength: 7 }),
        fc.shuffledSubarray(keys, { minLength: 7 }),
        (from, to) => {
          const moves = compare(
            withSteps(...from.map((key) => text(key))),
            withSteps(...to.map((key) => text(key))),
          )
          expect(moves.every(({ kind }) => kind === 'MOVED')).toBe(true)
          expect(moves).toHaveLength(keys.length - longestCommonOrder(from, to))
        },
      ),
    )
  })

  it('of which one has moved from the first to the last place are one change', () => {
    const steps = Array.from({ length: 1000 }, (_, index) => text(`q${index}`))
    const [first, ...others] = steps

    expect(inShort(withSteps(...steps), withSteps(...others, first!))).toEqual(['MOVED form.steps[999]'])
  })

  it.each<[string, object[], object[], string[]]>([
    ['a removed question', [text('q')], [], ['REMOVED form.steps[0] STEP_REMOVED']],
    ['a removed start', [{ type: 'start', key: 's' }], [], ['REMOVED form.steps[0]']],
    ['a removed end', [{ type: 'end', key: 'e' }], [], ['REMOVED form.steps[0]']],
    ['an added question', [], [text('q')], ['ADDED form.steps[0]']],
    [
      'another type of a question',
      [text('q')],
      [text('q', { type: 'end' })],
      ['CHANGED form.steps[0].type STEP_TYPE_CHANGED'],
    ],
    [
      'another type of an end, which has no answers',
      [text('q', { type: 'end', options: ['a'] })],
      [text('q', { options: [] })],
      ['REMOVED form.steps[0].options[0]', 'CHANGED form.steps[0].type'],
    ],
    ['another key', [text('q')], [text('r')], ['REMOVED form.steps[0] STEP_REMOVED', 'ADDED form.steps[0]']],
    [
      'members whose names mean something at another place',
      [text('q', { more: { type: 'a', options: ['a'], steps: [] } })],
      [text('q', { more: { type: 'b', options: [], steps: [1] } })],
      [
        'CHANGED form.steps[0].more.options',
        'CHANGED form.steps[0].more.steps',
        'CHANGED form.steps[0].more.type',
      ],
    ],
  ])('%s', (_, from, to, expected) => {
    expect(inShort(withSteps(...from), withSteps(...to))).toEqual(expected)
  })
})

describe('options of a step', () => {
  const at = 'form.steps[0].options'

  it.each<[string, FormDraft, FormDraft, string[]]>([
    ['a removed text', choice('a', 'b'), choice('b'), [`REMOVED ${at}[0] OPTION_REMOVED`]],
    ['an added text', choice('a'), choice('b', 'a'), [`ADDED ${at}[0]`]],
    ['a moved text', choice('a', 'b', 'c'), choice('c', 'a', 'b'), [`MOVED ${at}[0]`]],
    ['a repeated text', choice('a', 'a'), choice('a'), [`REMOVED ${at}[1]`]],
    ...['key', 'id', 'value'].map((name): [string, FormDraft, FormDraft, string[]] => [
      `objects with ${name}`,
      choice({ [name]: 'a', label: 'A' }, { [name]: 1 }, { [name]: '1' }),
      choice({ [name]: '1' }, { [name]: 'a', label: 'B' }),
      [`REMOVED ${at}[1] OPTION_REMOVED`, `MOVED ${at}[0]`, `CHANGED ${at}[1].label`],
    ]),
    [
      'key before id before value',
      choice({ key: 'k', id: 1, value: 'v' }, { id: 2, value: 'v' }),
      choice({ key: 'k', id: 3, value: 'w' }, { id: 2, value: 'w' }),
      [`CHANGED ${at}[0].id`, `CHANGED ${at}[0].value`, `CHANGED ${at}[1].value`],
    ],
    [
      'a text that becomes an object',
      choice('a'),
      choice({ value: 'a' }),
      [`REMOVED ${at}[0] OPTION_REMOVED`, `ADDED ${at}[0]`],
    ],
    ['options without an id', choice('a', 1), choice('a'), [`CHANGED ${at} OPTION_REMOVED`]],
    [
      'no options any more',
      choice('a'),
      withSteps({ type: 'choice', key: 'q' }),
      [`REMOVED ${at} OPTION_REMOVED`],
    ],
    ['an empty list that goes', choice(), withSteps({ type: 'choice', key: 'q' }), [`REMOVED ${at}`]],
    [
      'a list that becomes an object',
      choice('a'),
      withSteps({ type: 'choice', key: 'q', options: {} }),
      [`CHANGED ${at} OPTION_REMOVED`],
    ],
  ])('%s', (_, from, to, expected) => {
    expect(inShort(from, to)).toEqual(expected)
    expectComplete(from, to)
  })
})

describe('a list of changes over its bound', () => {
  const manyMembers = (value: number, count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, value]))
  const isSmall = (changes: FormChange[]) => JSON.stringify(changes).length < 4 * 1024 * 1024

  it('of steps has one change for each changed step', () => {
    const stepsWith = (value: number, options: string[], type: string) =>
      withSteps(
        text('a', manyMembers(value, 12_000)),
        text('b', { options, title: `${value}` }),
        text('c', { type }),
        text('same'),
        text(`${value}`),
      )
    const [from, to] = [stepsWith(1, ['x', 'y'], 'choice'), stepsWith(2, ['y'], 'text')]

    expect(inShort(from, to)).toEqual([
      'REMOVED form.steps[4] STEP_REMOVED',
      'CHANGED form.steps[0]',
      'CHANGED form.steps[1] OPTION_REMOVED',
      'CHANGED form.steps[2] STEP_TYPE_CHANGED',
      'ADDED form.steps[4]',
    ])
    expectComplete(from, to)
  })

  it('of translations has one change, and steps keep theirs', () => {
    const translated = (value: string) => {
      const steps = Object.fromEntries(
        Array.from({ length: 7_000 }, (_, index) => [`s${index}`, { title: { value } }]),
      )
      return draftOf({ i18n: { translations: { de: { steps } } }, steps: [text('q', { title: value })] })
    }
    const [from, to] = [translated('a'), translated('b')]

    expect(inShort(from, to)).toEqual(['CHANGED form.i18n.translations', 'CHANGED form.steps[0].title'])
    expectComplete(from, to)
  })

  it.each<[string, (value: number) => FormDraft]>([
    [
      'members below a long name',
      (value) => withSteps(text('q', { ['n'.repeat(100_000)]: manyMembers(value, 2_000) })),
    ],
    [
      'locales',
      (value) =>
        draftOf({
          i18n: {
            translations: Object.fromEntries(
              Array.from({ length: 9_000 }, (_, n) => [`x-a${value}-${n}`, {}]),
            ),
          },
        }),
    ],
    [
      'steps',
      (value) => withSteps(...Array.from({ length: 1000 }, (_, index) => text(`q${value}-${index}`))),
    ],
  ])('stays small with the most %s', (_, draftWith) => {
    const [from, to] = [draftWith(1), draftWith(2)]
    const changes = compare(from, to)

    expect(isSmall(changes)).toBe(true)
    expectComplete(from, to, changes)
  })
})

const changed = (name: string, before: Json, after: Json, pointer = `/${name.replaceAll('.', '/')}`) => ({
  kind: 'CHANGED',
  field: `form.${name}`,
  fromPointer: pointer,
  toPointer: pointer,
  before,
  after,
})

const removed = (name: string, before: object, breaking: string) => ({
  kind: 'REMOVED',
  field: `form.${name}`,
  fromPointer: `/${name.replace('[', '/').replace(']', '')}`,
  before,
  breaking,
})

/** The object with its members in reverse order. */
const inReverse = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).reverse())
    : value

/** The length of the longest common subsequence, by trying both ways at each element. */
const longestCommonOrder = (a: string[], b: string[]): number => {
  if (a.length === 0 || b.length === 0) return 0
  if (a[0] === b[0]) return 1 + longestCommonOrder(a.slice(1), b.slice(1))
  return Math.max(longestCommonOrder(a.slice(1), b), longestCommonOrder(a, b.slice(1)))
}
