import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFormArbitrary, draftArbitrary, draftInputArbitrary } from './form.arbitrary.ts'
import { Form, FormDraft, outputOnlyFields, unclearableFields } from './form.ts'

/** The paths of the issues in a draft, dotted, in the order of the report. */
const issuePaths = (draft: unknown): string[] => {
  const { error } = FormDraft.safeParse(draft)
  return (error?.issues ?? []).map(({ path }) => path.join('.'))
}

const step = (key: string, type = 'text') => ({ type, key })

describe('an empty draft', () => {
  it('has a default for every field', () => {
    expect(Object.keys(FormDraft.parse({}))).toEqual(Object.keys(FormDraft.shape))
  })

  it('shares no objects with another one', () => {
    FormDraft.parse({}).i18n.supportedLocales.push('de')
    FormDraft.parse({}).steps.push({ type: 'text', key: 'a' })

    expect(FormDraft.parse({})).toMatchObject({ i18n: { supportedLocales: ['en'] }, steps: [] })
  })

  it('treats removed members as omitted', () => {
    const cleared = Object.fromEntries(Object.keys(FormDraft.parse({})).map((name) => [name, undefined]))
    expect(FormDraft.parse(cleared)).toStrictEqual(FormDraft.parse({}))
  })
})

it('random drafts have every field', () => {
  const fields = fc.sample(draftInputArbitrary, 500).flatMap((draft) => Object.keys(draft))
  expect(new Set(fields)).toEqual(new Set(Object.keys(FormDraft.shape)))
})

describe('nested defaults', () => {
  it('of a marketplace service omit the price range', () => {
    const { marketplace } = FormDraft.parse({ marketplace: { services: [{}, { priceRange: {} }] } })
    const service = { category: '', description: '', duration: '', name: '' }

    expect(marketplace.services).toStrictEqual([
      service,
      { ...service, priceRange: { currency: '', max: 0, min: 0 } },
    ])
  })

  it('of translations omit the texts that are not translated', () => {
    const translations = {
      de: {},
      fr: { name: {}, steps: { q1: { title: { value: 'Nom' }, options: [{}] } } },
    }
    const value = { override: false, sourceHash: '', stale: false, value: '' }

    expect(FormDraft.parse({ i18n: { translations } }).i18n.translations).toStrictEqual({
      de: { steps: {} },
      fr: { name: value, steps: { q1: { title: { ...value, value: 'Nom' }, options: [value] } } },
    })
  })

  it('do not restore an entry that was removed from a map', () => {
    const translations = { de: undefined, fr: { name: undefined, steps: { q1: undefined } } }

    expect(FormDraft.parse({ i18n: { translations } }).i18n.translations).toEqual({ fr: { steps: {} } })
  })

  it('complete partial objects', () => {
    const draft = FormDraft.parse({
      theme: { buttonRadiusPx: 0 },
      marketplace: { location: { city: 'Bonn' } },
    })

    expect(draft.theme).toEqual({ ...FormDraft.parse({}).theme, buttonRadiusPx: 0 })
    expect(draft.marketplace.location).toEqual({ address: '', area: '', city: 'Bonn' })
  })

  it('of a background are its opacity and position', () => {
    expect(FormDraft.parse({ backgrounds: [{ type: 'image', url: '' }] }).backgrounds).toStrictEqual([
      { type: 'image', url: '', overlayOpacity: 0, position: 'left-half' },
    ])
  })
})

describe('a limit', () => {
  const emoji = (length: number) => '😀'.repeat(length)
  const facts = (length: number) => Array<string>(length).fill('')
  const steps = (length: number) => Array.from({ length }, (_, index) => step(`q${index}`))
  const backgrounds = (length: number) => Array(length).fill({ type: 'image', url: '' })

  const limits: [field: string, good: unknown, bad: unknown][] = [
    ['aiHandoff.enabled', true, 1],
    ['name', emoji(200), emoji(201)],
    ['name', 'x', ''],
    ['name', ' x\n', ' \t\n\u00a0\u0085\u3000\ufeff'],
    ['description', emoji(4000), emoji(4001)],
    ['tone', emoji(200), emoji(201)],
    ['tone', '', 'x'.repeat(201)],
    ['context', facts(1000), facts(1001)],
    ['steps', steps(1000), steps(1001)],
    ['backgrounds', backgrounds(100), backgrounds(101)],
    ['maxFollowUpQuestions', 9007199254740991, 9007199254740992],
    ['maxFollowUpQuestions', 0, -1],
    ['maxFollowUpQuestions', 4, 4.5],
    ['maxFollowUpQuestions', 4, '4'],
    ['type', 'dynamic', 'Dynamic'],
    ['defaultMode', 'voice', 'auto'],
    ['theme.primaryColor', emoji(64), emoji(65)],
    ['theme.backgroundColor', '', 'x'.repeat(65)],
    ['theme.fontFamily', emoji(64), emoji(65)],
    ['theme.textSize', 'x', ''],
    ['theme.buttonSize', 'x', ''],
    ['theme.textAnimation', 'x', ''],
    ['theme.buttonRadiusPx', 0.5, -0.5],
    ['branding.logoUrl', 'https://example.com/logo.svg', 'logo.svg'],
    ['branding.logoLinkUrl', '', 'javascript:alert(1)'],
    ['marketplace.bookingUrl', 'http://localhost:3000', 'ftp://example.com'],
    ['marketplace.languages', ['anything'], [1]],
    ['voice.enabled', true, 'true'],
    ['i18n.sourceLocale', 'pt-BR', 'pt_BR'],
    ['i18n.supportedLocales', [], ['']],
    ['leadScoring.high', '', null],
  ]

  it.each(limits)('of %s', (field, good, bad) => {
    const draft = (value: unknown) =>
      field.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)

    expect(issuePaths(draft(good))).toEqual([])
    expect(issuePaths(draft(bad))).toEqual([expect.stringMatching(`^${field}`)])
  })

  it('is tested for every field', () => {
    expect(new Set(limits.map(([field]) => field.split('.')[0]))).toEqual(
      new Set(Object.keys(FormDraft.shape)),
    )
  })

  it.each([
    ['min', 0, -0.01],
    ['max', 1e300, -1],
  ])('of a price range: %s', (member, good, bad) => {
    const draft = (price: number) => ({ marketplace: { services: [{ priceRange: { [member]: price } }] } })

    expect(issuePaths(draft(good))).toEqual([])
    expect(issuePaths(draft(bad))).toEqual([`marketplace.services.0.priceRange.${member}`])
  })

  it('accepts a price range with min above max, which the publish checks reject', () => {
    expect(issuePaths({ marketplace: { services: [{ priceRange: { min: 2, max: 1 } }] } })).toEqual([])
  })
})

describe('text', () => {
  it('is stored unchanged', () => {
    const name = ' \0e\u0301\u{1F600} '
    expect(FormDraft.parse({ name }).name).toBe(name)
  })
})

describe('locales', () => {
  it('are unique regardless of case, and stored as sent', () => {
    expect(issuePaths({ i18n: { supportedLocales: ['pt-BR', 'de', 'PT-br', 'pt-br'] } })).toEqual([
      'i18n.supportedLocales.2',
      'i18n.supportedLocales.3',
    ])
    expect(FormDraft.parse({ i18n: { supportedLocales: ['PT-br'] } }).i18n.supportedLocales).toEqual([
      'PT-br',
    ])
  })

  it('are the keys of translations', () => {
    expect(issuePaths({ i18n: { translations: { en_US: {} } } })).toEqual(['i18n.translations.en_US'])
  })
})

describe('step keys', () => {
  it('are unique in the form, case-sensitive', () => {
    expect(issuePaths({ steps: [step('a'), step('A'), step('a'), step('b'), step('a', 'end')] })).toEqual([
      'steps.2.key',
      'steps.4.key',
    ])
  })
})

describe('a payment step', () => {
  const steps = [step('pay', 'payment')]

  it('requires the guided mode', () => {
    expect(issuePaths({ steps })).toEqual([])
    expect(issuePaths({ steps, defaultMode: 'guided' })).toEqual([])
    expect(issuePaths({ steps, defaultMode: 'conversational' })).toEqual(['defaultMode'])
    expect(issuePaths({ steps, defaultMode: 'voice' })).toEqual(['defaultMode'])
    expect(issuePaths({ steps: [step('pay')], defaultMode: 'voice' })).toEqual([])
  })
})

describe('violations', () => {
  it('are reported in one error, including rules on several fields', () => {
    const draft = {
      name: '',
      tone: 1,
      color: 'red',
      defaultMode: 'voice',
      steps: [step('pay', 'payment'), step('a b'), step('pay')],
      i18n: { supportedLocales: ['en', 'EN', 'e'], sourceLocale: '' },
      theme: { buttonRadiusPx: -1, colour: '' },
      backgrounds: [{}],
    }

    expect(issuePaths(draft).sort()).toEqual(
      [
        '', // color
        'backgrounds.0.type',
        'backgrounds.0.url',
        'defaultMode',
        'i18n.sourceLocale',
        'i18n.supportedLocales.1',
        'i18n.supportedLocales.2',
        'name',
        'steps.1.key',
        'steps.2.key',
        'theme', // colour
        'theme.buttonRadiusPx',
        'tone',
      ].sort(),
    )
  })

  it.each([
    [{ color: 'red' }],
    [{ color: undefined }],
    [{ theme: { colour: '' } }],
    [{ marketplace: { location: { zip: '' } } }],
    [{ backgrounds: [{ type: 'image', url: '', alt: '' }] }],
    [{ i18n: { translations: { de: { title: {} } } } }],
  ])('include unknown members: %j', (draft) => {
    expect(FormDraft.safeParse(draft).error?.issues).toMatchObject([{ code: 'unrecognized_keys' }])
  })

  const many = Array(300_000).fill(1)
  const manyMembers = Object.fromEntries(many.map((value, index) => [`_${index}`, value]))
  const withStep = (members: object) => ({ steps: [{ type: 'text', key: 'a', ...members }] })
  it.each<[string, object]>([
    ['languages', { marketplace: { languages: many } }],
    ['services', { marketplace: { services: many } }],
    ['branches', withStep({ branches: many })],
    ['groups', withStep({ branches: [{ targetStepKey: '', groups: many }] })],
    ['conditions', withStep({ branches: [{ targetStepKey: '', groups: [many] }] })],
    ['locales', { i18n: { supportedLocales: many } }],
    ['repeated locales', { i18n: { supportedLocales: many.map(() => 'en') } }],
    ['translations', { i18n: { translations: manyMembers } }],
    ['translated steps', { i18n: { translations: { de: { steps: manyMembers } } } }],
    ['options', { i18n: { translations: { de: { steps: { a: { options: many } } } } } }],
    ['steps', { steps: Array(1000).fill({ type: 'text', key: 1, branches: Array(300).fill(1) }) }],
  ])('of hundreds of thousands of %s are limited in number', (_, draft) => {
    const { length } = issuePaths(draft)
    expect(length).toBeGreaterThan(1000)
    expect(length).toBeLessThan(4000)
  })

  it.each([null, [], 'form', 1])('are reported when the draft is %j', (draft) => {
    expect(issuePaths(draft)).toEqual([''])
  })
})

describe('any draft', () => {
  it('is complete after parsing: its JSON parses to an equal draft', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        expect(FormDraft.parse(JSON.parse(JSON.stringify(draft)))).toEqual(draft)
      }),
    )
  })

  it('keeps the given members', () => {
    fc.assert(
      fc.property(draftInputArbitrary, (input) => {
        expect(FormDraft.parse(input)).toMatchObject(input)
      }),
    )
  })

  it('is a form with the output-only fields added', () => {
    fc.assert(
      fc.property(draftArbitrary, (draft) => {
        const form = {
          ...draft,
          createTime: '2026-11-20T09:30:00.000Z',
          live: true,
          path: `organizations/${crypto.randomUUID()}/forms/${crypto.randomUUID()}`,
          publicId: 'aB3dE6gH9j',
          publicUrl: 'http://127.0.0.1:8080/f/aB3dE6gH9j',
          replyCount: 0,
          updateTime: '2026-11-20T09:30:00.000Z',
        }
        expect(Form.parse(form)).toEqual(form)
      }),
    )
  })

  it('can result from a create with null and output-only members', () => {
    fc.assert(
      fc.property(createFormArbitrary, (sent) => {
        for (const name of unclearableFields) expect(sent[name]).not.toBe(null)
        const owned = outputOnlyFields as string[]
        const input = Object.fromEntries(Object.entries(sent).filter(([name]) => !owned.includes(name)))
        expect(issuePaths(withoutNulls(input))).toEqual([])
      }),
    )
  })
})

/** Omits `null` members, as a create does, but not inside lists. */
const withoutNulls = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .filter(([, member]) => member !== null)
          .map(([name, member]) => [name, withoutNulls(member)]),
      )
