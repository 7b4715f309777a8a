import { FormDraft } from '@fms/contracts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { publishViolations } from './publish-checks.ts'

const question = { type: 'text', key: 'q' }
/** A publishable draft with one question, with `fields` replaced. */
const draftOf = (fields: object): FormDraft => ({ ...FormDraft.parse({ steps: [question] }), ...fields })

const start = { type: 'start', key: 'start' }
const end = { type: 'end', key: 'end' }
const keyed = (key: string, rest: object = {}) => ({ type: 'text', key, ...rest })
const branchTo = (targetStepKey: string, ...conditions: string[]) => ({
  targetStepKey,
  groups: [conditions.map((stepKey) => ({ negate: false, operator: 'is', stepKey, value: 'x' }))],
})

/** Each violation in short: its type and where it is. */
const violationsOf = (fields: object) =>
  publishViolations(draftOf(fields)).map(({ type, subject }) => `${type} ${subject}`)

const translated = (steps: object) => ({ steps })
const i18n = (fields: object) => ({
  i18n: { sourceLocale: 'en', supportedLocales: ['en'], translations: {}, ...fields },
})

describe('publishViolations', () => {
  it.each<[string, object]>([
    ['one question', { steps: [question] }],
    [
      'a start, questions and several ends',
      { steps: [start, question, keyed('r'), end, keyed('end2', end)] },
    ],
    ['a dynamic form without steps', { type: 'dynamic', steps: [] }],
    ['a dynamic form of a start alone', { type: 'dynamic', steps: [start] }],
    ['a dynamic form of ends alone', { type: 'dynamic', steps: [end, { ...end, key: 'other' }] }],
    [
      'a branch that looks back, at itself too, and leads anywhere',
      {
        steps: [
          { ...start, branches: [branchTo('end', 'start')] },
          keyed('a', { branches: [branchTo('b', 'start', 'a'), branchTo('start'), branchTo('a')] }),
          keyed('b', { branches: [{ targetStepKey: 'end', groups: [] }] }),
          { ...end, branches: [branchTo('a', 'a', 'b', 'end')] },
        ],
      },
    ],
    [
      'translated steps in supported locales, whatever their letter case',
      i18n({
        sourceLocale: 'EN',
        supportedLocales: ['en', 'pt-BR'],
        translations: { 'pt-br': translated({ q: {} }), en: translated({}) },
      }),
    ],
    ['a price range of one price', prices({ min: 5, max: 5 })],
    ['a service without a price range', prices(undefined)],
    ['a payment in guided mode', { steps: [keyed('pay', { type: 'payment' })] }],
    ['conversational mode', { defaultMode: 'conversational' }],
    ['voice mode with voice', { defaultMode: 'voice', voice: { enabled: true } }],
    ['voice without voice mode', { voice: { enabled: true } }],
  ])('finds nothing in %s', (_, fields) => {
    expect(violationsOf(fields)).toEqual([])
  })

  it.each<[string, object, string[]]>([
    ['an untouched form', FormDraft.parse({}), ['QUESTIONS form.steps']],
    ['a structured form without a question', { steps: [start, end] }, ['QUESTIONS form.steps']],
    ['a start after a question', { steps: [question, start] }, ['START_STEP form.steps[1]']],
    [
      'a second and a third start',
      { steps: [start, question, { ...start, key: 's2' }, { ...start, key: 's3' }] },
      ['START_STEP form.steps[2]', 'START_STEP form.steps[3]'],
    ],
    [
      'ends before a question, but not the one after',
      { steps: [end, keyed('a'), keyed('e2', { type: 'end' }), keyed('b'), keyed('e3', { type: 'end' })] },
      ['END_STEP form.steps[0]', 'END_STEP form.steps[2]'],
    ],
    ['an end before a start', { type: 'dynamic', steps: [end, start] }, ['START_STEP form.steps[1]']],
    [
      'a branch that leads nowhere',
      { steps: [keyed('a', { branches: [branchTo('a'), branchTo('gone')] })] },
      ['BRANCH_TARGET form.steps[0].branches[1].targetStepKey'],
    ],
    [
      'a branch of the start that leads nowhere',
      { steps: [{ ...start, branches: [branchTo('gone')] }, question] },
      ['BRANCH_TARGET form.steps[0].branches[0].targetStepKey'],
    ],
    [
      'a condition on no step and one on a later step',
      { steps: [keyed('a', { branches: [branchTo('a', 'a', 'gone', 'b')] }), keyed('b')] },
      [
        'CONDITION_STEP form.steps[0].branches[0].groups[0][1].stepKey',
        'CONDITION_STEP form.steps[0].branches[0].groups[0][2].stepKey',
      ],
    ],
    [
      'a branch of a step whose key is a word of the language',
      { steps: [keyed('a', { branches: [branchTo('toString')] })] },
      ['BRANCH_TARGET form.steps[0].branches[0].targetStepKey'],
    ],
    [
      'a translation of no step',
      i18n({ translations: { en: translated({ q: {}, gone: {}, toString: {} }) } }),
      [
        'TRANSLATED_STEP form.i18n.translations.en.steps.gone',
        'TRANSLATED_STEP form.i18n.translations.en.steps.toString',
      ],
    ],
    [
      'locales that are not supported',
      i18n({
        sourceLocale: 'de',
        supportedLocales: ['en', 'pt-BR'],
        translations: { pt: translated({}), en: translated({}) },
      }),
      ['LOCALE form.i18n.sourceLocale', 'LOCALE form.i18n.translations.pt'],
    ],
    ['no supported locale at all', i18n({ supportedLocales: [] }), ['LOCALE form.i18n.sourceLocale']],
    [
      'a price range upside down',
      prices({ min: 1, max: 2 }, { min: 2.5, max: 2 }),
      ['PRICE_RANGE form.marketplace.services[1].priceRange.min'],
    ],
    [
      'a payment in conversational mode',
      { steps: [keyed('pay', { type: 'payment' })], defaultMode: 'conversational' },
      ['MODE form.defaultMode'],
    ],
    ['voice mode without voice', { defaultMode: 'voice' }, ['MODE form.defaultMode']],
    [
      'a payment in voice mode without voice',
      { steps: [keyed('pay', { type: 'payment' })], defaultMode: 'voice' },
      ['MODE form.defaultMode', 'MODE form.defaultMode'],
    ],
  ])('finds %s', (_, fields, expected) => {
    expect(violationsOf(fields)).toEqual(expected)
  })

  it('returns all violations', () => {
    const everything = {
      ...i18n({ sourceLocale: 'de', translations: { fr: translated({ gone: {} }) } }),
      ...prices({ min: 2, max: 1 }),
      defaultMode: 'voice',
      steps: [
        end,
        { ...start, branches: [branchTo('gone', 'gone', 'pay')] },
        keyed('pay', { type: 'payment' }),
      ],
    }

    expect(violationsOf(everything)).toEqual([
      'END_STEP form.steps[0]',
      'START_STEP form.steps[1]',
      'BRANCH_TARGET form.steps[1].branches[0].targetStepKey',
      'CONDITION_STEP form.steps[1].branches[0].groups[0][0].stepKey',
      'CONDITION_STEP form.steps[1].branches[0].groups[0][1].stepKey',
      'TRANSLATED_STEP form.i18n.translations.fr.steps.gone',
      'LOCALE form.i18n.sourceLocale',
      'LOCALE form.i18n.translations.fr',
      'PRICE_RANGE form.marketplace.services[0].priceRange.min',
      'MODE form.defaultMode',
      'MODE form.defaultMode',
    ])
  })

  it('describes each violation by its rule', () => {
    for (const { description } of publishViolations(draftOf({ steps: [], defaultMode: 'voice' }))) {
      expect(description).toMatch(/^must /)
    }
  })

  it('returns at most 1,000 violations', () => {
    const steps = Array.from({ length: 600 }, (_, index) =>
      keyed(`s${index}`, { branches: [branchTo('gone', 'gone')] }),
    )
    expect(publishViolations(draftOf({ steps }))).toHaveLength(1000)
  })

  it('fits a NATS message for any draft of 768 KiB', () => {
    const locale = `en-x${'-abcdefgh'.repeat(26)}`
    const steps = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`${index}`.padEnd(230, '字'), { options: [] }]),
    )
    const draft = draftOf(i18n({ translations: { [locale]: { steps } } }))
    expect(Buffer.byteLength(JSON.stringify(draft))).toBeLessThanOrEqual(768 * 1024)

    const violations = publishViolations(draft)

    expect(violations.length).toBeGreaterThan(500)
    expect(Buffer.byteLength(JSON.stringify(violations))).toBeLessThan(900 * 1024)
  })

  it('returns nothing for any valid form', () => {
    const step = fc.record({
      type: fc.constantFrom('text', 'payment', 'choice'),
      back: fc.nat(3),
      ahead: fc.nat(3),
    })
    const form = fc.record({
      questions: fc.array(step, { minLength: 1, maxLength: 8 }),
      start: fc.boolean(),
      ends: fc.nat(2),
    })
    fc.assert(
      fc.property(form, ({ questions, start: hasStart, ends }) => {
        const steps = [
          ...(hasStart ? [start] : []),
          ...questions.map(({ type, back, ahead }, index) => {
            const [from, to] = [Math.max(0, index - back), Math.min(questions.length - 1, index + ahead)]
            return { type, key: `q${index}`, branches: [branchTo(`q${to}`, `q${from}`)] }
          }),
          ...Array.from({ length: ends }, (_, index) => ({ type: 'end', key: `e${index}` })),
        ]
        expect(violationsOf({ steps })).toEqual([])
      }),
    )
  })
})

function prices(...ranges: (object | undefined)[]) {
  const services = ranges.map((range) => ({
    ...{ category: '', description: '', duration: '', name: '' },
    ...(range && { priceRange: { currency: 'EUR', ...range } }),
  }))
  return { marketplace: { ...FormDraft.parse({}).marketplace, services } }
}
