import { conditionOperators, FormDraft, type StepMember, stepTypes, warningReasons } from '@fms/contracts'
import { draftArbitrary } from '@fms/contracts/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { warningsOf } from './warnings-of.ts'

const start = { type: 'start', key: 'start', title: 'Welcome' }
const question = { type: 'text', key: 'q', title: 'Your name' }
const end = { type: 'end', key: 'end', title: 'Bye' }
const text = (key: string, members: object = {}) => ({ ...question, key, ...members })
const always = (targetStepKey: string) => ({ targetStepKey, groups: [[]] })
const when = (targetStepKey: string, operator = 'equals', value = 'yes') => ({
  targetStepKey,
  groups: [[{ stepKey: 'q', operator, value }]],
})

/** Each warning in short: its reason, where it is, and what is suggested. */
const warned = (fields: object) =>
  warningsOf(FormDraft.parse(fields)).map(({ reason, field, message }) =>
    [reason, field.replace(/^form\./, ''), ...(/did you mean (.*)\?/.exec(message)?.slice(1) ?? [])].join(
      ' ',
    ),
  )
/** The warnings of a form with this step between a start and an end. */
const warnedOf = (step: object) => warned({ steps: [start, { key: 'q', title: 'A', ...step }, end] })

const sampleOf: Record<StepMember['kind'], (member: StepMember) => unknown> = {
  text: () => 'x',
  url: () => 'https://example.com/x',
  flag: () => true,
  integer: ({ minimum }) => minimum,
  number: ({ minimum }) => minimum ?? 1.5,
  date: () => '2026-11-20',
  time: () => '09:30',
  pattern: () => '[a-z]+',
  currency: () => 'EUR',
  texts: () => ['low', 'high'],
  options: () => ['yes', { key: 'b', label: 'B' }],
  background: () => ({ type: 'image', url: '' }),
  branches: () => Object.keys(conditionOperators).map((operator) => when('end', operator)),
}

describe('warningsOf', () => {
  it.each(Object.entries(stepTypes))(
    'knows a %s step with all members of the catalogue',
    (type, { members }) => {
      const all = Object.entries<StepMember>(members).map(([name, member]) => [
        name,
        sampleOf[member.kind](member),
      ])
      const step = { type, key: type === 'end' ? 'end' : 'q', ...Object.fromEntries(all) }
      const others = [...(type === 'start' ? [] : [start]), step, ...(type === 'end' ? [] : [end])]

      expect(warned({ steps: others })).toEqual([])
    },
  )

  it.each<[string, object, string[]]>([
    ['a misspelt type', { type: 'ratign', max: 5 }, ['TYPE_UNKNOWN steps[1].type rating']],
    [
      'members of a misspelt type',
      { type: 'ratign', max: 5, title: undefined, titel: 'A' },
      [
        'TYPE_UNKNOWN steps[1].type rating',
        'MEMBER_UNKNOWN steps[1].titel title',
        'MEMBER_MISSING steps[1].title',
      ],
    ],
    [
      'another word for a type',
      { type: 'radio' },
      ['TYPE_UNKNOWN steps[1].type choice', 'MEMBER_MISSING steps[1].options'],
    ],
    ['a type like no other', { type: 'matrix' }, ['TYPE_UNKNOWN steps[1].type']],
    [
      'a misspelt member',
      { type: 'text', title: undefined, titel: 'A' },
      ['MEMBER_UNKNOWN steps[1].titel title', 'MEMBER_MISSING steps[1].title'],
    ],
    ['required on a statement', { type: 'statement', required: true }, ['MEMBER_UNKNOWN steps[1].required']],
    ['a blank title', { type: 'text', title: ' ' }, ['MEMBER_MISSING steps[1].title']],
    ['a choice without options', { type: 'choice' }, ['MEMBER_MISSING steps[1].options']],
    ['a ranking with no options', { type: 'ranking', options: [] }, ['MEMBER_MISSING steps[1].options']],
    ['a rating without max', { type: 'rating' }, ['MEMBER_MISSING steps[1].max']],
    [
      'a payment without a price',
      { type: 'payment' },
      ['MEMBER_MISSING steps[1].amount', 'MEMBER_MISSING steps[1].currency'],
    ],
    [
      'blank and repeated options',
      { type: 'choice', options: ['a', ' ', 'a', { key: 'a', label: 'A' }] },
      [
        'OPTION_BLANK steps[1].options[1]',
        'OPTION_REPEATED steps[1].options[2]',
        'OPTION_REPEATED steps[1].options[3]',
      ],
    ],
    ['an option that is none', { type: 'choice', options: ['a', 2] }, ['MEMBER_INVALID steps[1].options[1]']],
    ['a value of another kind', { type: 'rating', max: 'five' }, ['MEMBER_INVALID steps[1].max']],
    ['a value out of bounds', { type: 'rating', max: 21 }, ['MEMBER_INVALID steps[1].max']],
    ['bounds upside down', { type: 'number', min: 2, max: 1 }, ['MEMBER_INVALID steps[1].min']],
    ['an invalid pattern', { type: 'text', pattern: '(' }, ['MEMBER_INVALID steps[1].pattern']],
    [
      'a branch to nowhere',
      { type: 'text', branches: [when('ned')] },
      ['BRANCH_TARGET_MISSING steps[1].branches[0].targetStepKey end'],
    ],
    [
      'a branch that never holds',
      { type: 'text', branches: [{ targetStepKey: 'end' }] },
      ['MEMBER_MISSING steps[1].branches[0].groups'],
    ],
    [
      'a misspelt operator',
      { type: 'text', branches: [when('end', 'equal')] },
      ['OPERATOR_UNKNOWN steps[1].branches[0].groups[0][0].operator equals'],
    ],
    [
      'a condition with the label of an option that has a key',
      {
        type: 'choice',
        options: ['x', { key: 'eve', label: 'Evening' }],
        branches: [
          when('end', 'equals', 'evening'),
          when('end', 'includes', 'X'),
          when('end', 'equals', 'EVE'),
        ],
      },
      ['VALUE_UNKNOWN steps[1].branches[0].groups[0][0].value eve'],
    ],
    [
      'options with an empty key, which are their text',
      {
        type: 'choice',
        options: [
          { key: '', label: 'Morning' },
          { key: '', label: 'Evening' },
          { key: '', label: '' },
          'Evening',
        ],
        branches: [when('end', 'equals', 'morning'), when('end', 'equals', 'Evening')],
      },
      ['OPTION_BLANK steps[1].options[2]', 'OPTION_REPEATED steps[1].options[3]'],
    ],
    [
      'a condition with a misspelt option',
      { type: 'dropdown', options: ['Basel', 'Bern'], branches: [when('end', 'equals', 'Barn')] },
      ['VALUE_UNKNOWN steps[1].branches[0].groups[0][0].value Bern'],
    ],
    [
      'a condition with another answer than yes or no',
      { type: 'yes-no', branches: [when('end', 'equals', 'true'), when('end', 'contains', 'true')] },
      ['VALUE_UNKNOWN steps[1].branches[0].groups[0][0].value'],
    ],
    [
      'a branch to itself that always holds',
      { type: 'text', branches: [always('q')] },
      ['STEP_UNREACHABLE steps[2]', 'BRANCH_ENDLESS steps[1].branches[0].targetStepKey'],
    ],
  ])('tells of %s', (_, step, expected) => {
    expect(warnedOf(step)).toEqual(expected)
  })

  it('tells of steps that no way leads to, and not of those that a branch leads to', () => {
    const steps = [
      { ...start, branches: [always('b')] },
      text('a'),
      text('b', { branches: [when('late')] }),
      end,
      { ...end, key: 'late' },
      { ...end, key: 'never' },
    ]

    expect(warned({ steps })).toEqual(['STEP_UNREACHABLE steps[1]', 'STEP_UNREACHABLE steps[5]'])
  })

  it('tells of a loop only if no way leads out of it', () => {
    const loop = (back: object) => ({ steps: [start, text('a'), text('b', { branches: [back] }), end] })

    expect(warned(loop(when('a')))).toEqual([])
    expect(warned(loop(always('a')))).toEqual([
      'STEP_UNREACHABLE steps[3]',
      'BRANCH_ENDLESS steps[2].branches[0].targetStepKey',
    ])
  })

  it.each<[string, object, string[]]>([
    ['an empty form', {}, []],
    ['a form without an end', { steps: [start, question] }, ['END_MISSING steps']],
    ['the name of a colour', { theme: { primaryColor: 'teal' } }, ['COLOR_INVALID theme.primaryColor']],
    ['colours in hexadecimal', { theme: { primaryColor: '#0Af', backgroundColor: '#11223344' } }, []],
    [
      'locales without translations',
      {
        i18n: {
          supportedLocales: ['EN', 'de', 'fr', 'pt'],
          translations: { DE: { name: { value: 'Hallo' } }, fr: { steps: {} } },
        },
      },
      ['LOCALE_UNTRANSLATED i18n.supportedLocales[2]', 'LOCALE_UNTRANSLATED i18n.supportedLocales[3]'],
    ],
  ])('judges %s', (_, fields, expected) => {
    expect(warned(fields)).toEqual(expected)
  })

  it('tells at most 100 warnings', () => {
    const steps = Array.from({ length: 600 }, (_, index) => ({ type: 'matrix', key: `s${index}` }))

    expect(warned({ steps })).toHaveLength(100)
  })

  it('has a known reason and a field of the form for any draft, and reads each part of it a few times', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const counted = countReads(draft)

        const warnings = warningsOf(counted.value)

        expect(counted.reads()).toBeLessThan(40 * (partsOf(draft) + 100))
        expect(warnings.length).toBeLessThanOrEqual(100)
        for (const { field, reason, message } of warnings) {
          expect(field).toMatch(/^form\./)
          expect(Object.keys(warningReasons)).toContain(reason)
          expect(message.length).toBeLessThan(300)
        }
      }),
    )
  })

  it.each([
    ['steps', (size: number) => ({ steps: keyed(size, () => ({})) })],
    [
      'branches',
      (size: number) => ({ steps: keyed(2, () => ({ branches: times(size, () => when('s0')) })) }),
    ],
    [
      'branches back and forth',
      (size: number) => ({ steps: keyed(size, (n) => ({ branches: [when('s0'), when(`s${size - n}`)] })) }),
    ],
    [
      'options',
      (size: number) => ({ steps: keyed(1, () => ({ type: 'choice', options: times(size, String) })) }),
    ],
    [
      'members',
      (size: number) => ({ steps: keyed(1, () => Object.fromEntries(times(size, (n) => [`m${n}`, n]))) }),
    ],
  ])('reads twice the %s in at most about twice the reads', (_, fieldsOf) => {
    const readsOf = (size: number) => {
      const counted = countReads(FormDraft.parse(fieldsOf(size)))
      warningsOf(counted.value)
      return counted.reads()
    }

    expect(readsOf(800)).toBeLessThan(2.2 * readsOf(400))
  })
})

const times = <T>(length: number, item: (index: number) => T) =>
  Array.from({ length }, (_, index) => item(index))
const keyed = (length: number, members: (index: number) => object) =>
  times(length, (index) => text(`s${index}`, members(index)))

/** The number of values in a JSON value. */
const partsOf = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, part) => sum + partsOf(part), 1)
    : 1

/** The value behind proxies that count how often a member is read. */
const countReads = <T extends object>(value: T) => {
  let reads = 0
  const wrap = (part: unknown): unknown =>
    typeof part === 'object' && part !== null
      ? new Proxy(part, {
          get: (target, name, receiver) => {
            if (typeof name === 'string' && Object.hasOwn(target, name)) reads++
            return wrap(Reflect.get(target, name, receiver))
          },
        })
      : part
  return { value: wrap(value) as T, reads: () => reads }
}
