import { anyCharacter } from '@fms/testkit/any-character'
import fc from 'fast-check'
import { FormDraft, FormMode, FormType, type outputOnlyFields } from './form.ts'

/** Text of any code points, including NUL and those outside the basic plane. */
const anyText = (maxLength = 12, minLength = 0) => fc.string({ unit: anyCharacter, minLength, maxLength })

const anyName = anyText(200, 1).filter((name) => /[^\s\p{White_Space}]/u.test(name))
/** Nothing, or a text after a delimiter, with or without reserved characters. */
const partOfUrl = (delimiter: string) =>
  fc.oneof(
    fc.constant(''),
    anyText().map((text) => delimiter + encodeURIComponent(text)),
    anyText().map((text) => delimiter + encodeURI(text).replaceAll('#', '')),
  )
const anyPath = fc.array(partOfUrl('/'), { maxLength: 4 }).map((parts) => parts.join(''))
// fast-check's own URLs build the map of all characters: see `anyCharacter`.
const anyUrl = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom('http://', 'https://'), fc.domain(), anyPath, partOfUrl('?'), partOfUrl('#'))
    .map((parts) => parts.join('')),
)
const anyOpenValue = anyText(64, 1)
const anyLocale = fc.constantFrom('en', 'de', 'pt-BR', 'zh-cmn-Hans-CN', 'x-private', 'i-klingon')
const anyKey = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
const atLeastZero = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })

/** Member names that request bodies must not contain. */
const forbiddenNames = ['__proto__', 'constructor', 'prototype']

/** Any JSON value without forbidden names. */
const anyJson = fc
  .json({ stringUnit: anyCharacter })
  .filter((json) => !forbiddenNames.some((name) => json.includes(name)))
  .map((json) => JSON.parse(json) as unknown)

const partly = <T>(members: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(members, { requiredKeys: [], noNullPrototype: true })

const anyBackground = fc
  .tuple(
    fc.record({ type: anyOpenValue, url: anyUrl }),
    partly({ overlayOpacity: fc.double({ min: 0, max: 1, noNaN: true }), position: anyOpenValue }),
  )
  .map(([required, optional]) => ({ ...required, ...optional }))

const anyCondition = fc
  .tuple(
    fc.record({ stepKey: anyText(), operator: anyOpenValue }),
    partly({ negate: fc.boolean(), value: anyText() }),
  )
  .map(([required, optional]) => ({ ...required, ...optional }))

const anyBranch = fc.record({
  targetStepKey: anyText(),
  groups: fc.array(fc.array(anyCondition, { maxLength: 2 }), { maxLength: 2 }),
})

const screenMembers = {
  title: anyText(),
  description: anyText(),
  buttonText: anyText(),
  logoUrl: anyUrl,
  redirectUrl: anyUrl,
  background: anyBackground,
  branches: fc.array(anyBranch, { maxLength: 2 }),
}

const anyStart = fc
  .tuple(partly(screenMembers), anyKey)
  .map(([members, key]) => ({ ...members, type: 'start', key }))

const isFurther = (name: string) =>
  ![...Object.keys(screenMembers), 'type', 'key', ...forbiddenNames].includes(name)

/** Unknown members of a step, which the service stores. */
export const furtherMembersArbitrary = fc.dictionary(
  fc.oneof(fc.constantFrom('options', 'required', 'toString', ''), anyText().filter(isFurther)),
  anyJson,
  { maxKeys: 4, noNullPrototype: true },
)

const anyOpenStep = fc
  .tuple(
    partly(screenMembers),
    fc.oneof(fc.constantFrom('end', 'text', 'choice', 'payment'), anyText(64, 1)),
    anyKey,
    furtherMembersArbitrary,
  )
  .filter(([, type]) => type !== 'start')
  .map(([members, type, key, further]) => ({ ...further, ...members, type, key }))

const anySteps = fc.uniqueArray(fc.oneof({ arbitrary: anyOpenStep, weight: 4 }, anyStart), {
  selector: ({ key }) => key,
  maxLength: 4,
})

const anyTranslatedValue = partly({
  override: fc.boolean(),
  sourceHash: anyText(),
  stale: fc.boolean(),
  value: anyText(),
})

const anyService = partly({
  category: anyText(),
  description: anyText(),
  duration: anyText(),
  name: anyText(),
  priceRange: partly({ currency: anyText(), max: atLeastZero, min: atLeastZero }),
})

/** Returns a generator of the value, optionally of `null` too. */
type Clearing = <T>(value: fc.Arbitrary<T>) => fc.Arbitrary<T | null>

/**
 * Members as clients send them: each is optional, and `clearing` adds `null` to the values of objects, except inside
 * lists, whose items a merge patch does not change.
 */
const anyInput = (clearing: Clearing): fc.Arbitrary<Record<string, unknown>> => {
  const object = (members: Record<string, fc.Arbitrary<unknown>>) =>
    clearing(
      partly(Object.fromEntries(Object.entries(members).map(([name, value]) => [name, clearing(value)]))),
    )
  const map = (key: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>) =>
    clearing(fc.dictionary(key, clearing(value), { maxKeys: 3, noNullPrototype: true }))

  const toggle = object({ enabled: fc.boolean() })
  const translatedStep = object({
    buttonText: anyTranslatedValue,
    description: anyTranslatedValue,
    title: anyTranslatedValue,
    options: fc.array(anyTranslatedValue, { maxLength: 2 }),
  })
  const translationSet = object({
    description: anyTranslatedValue,
    name: anyTranslatedValue,
    steps: map(
      anyKey.filter((key) => !forbiddenNames.includes(key)),
      translatedStep,
    ),
  })
  const cleared = {
    aiHandoff: toggle,
    backgrounds: clearing(fc.array(anyBackground, { maxLength: 2 })),
    branding: object({ enabled: fc.boolean(), logoLinkUrl: anyUrl, logoUrl: anyUrl }),
    context: clearing(fc.array(anyText(), { maxLength: 3 })),
    description: clearing(anyText(4000)),
    i18n: object({
      sourceLocale: anyLocale,
      supportedLocales: fc.uniqueArray(anyLocale),
      translations: map(anyLocale, translationSet),
    }),
    leadScoring: object({ enabled: fc.boolean(), high: anyText(), low: anyText(), medium: anyText() }),
    marketplace: object({
      bookingUrl: anyUrl,
      category: anyText(),
      description: anyText(),
      enabled: fc.boolean(),
      industry: anyText(),
      languages: fc.array(anyText(), { maxLength: 2 }),
      location: object({ address: anyText(), area: anyText(), city: anyText() }),
      name: anyText(),
      services: fc.array(anyService, { maxLength: 2 }),
    }),
    maxFollowUpQuestions: clearing(fc.maxSafeNat()),
    steps: clearing(anySteps),
    theme: object({
      backgroundColor: anyText(64),
      buttonRadiusPx: atLeastZero,
      buttonSize: anyOpenValue,
      buttonTextColor: anyText(64),
      fontFamily: anyOpenValue,
      foregroundColor: anyText(64),
      primaryColor: anyText(64),
      textAnimation: anyOpenValue,
      textSize: anyOpenValue,
    }),
    tone: clearing(anyText(200)),
    voice: toggle,
  }
  return partly<Record<string, unknown>>({
    ...cleared,
    defaultMode: fc.constantFrom(...FormMode.options),
    name: anyName,
    type: fc.constantFrom(...FormType.options),
  }).map(guidedWhenPaid)
}

/** Sets the guided mode for a form with a payment step. */
const guidedWhenPaid = (draft: Record<string, unknown>) => {
  const steps = (draft.steps ?? []) as { type: string }[]
  return 'defaultMode' in draft && steps.some(({ type }) => type === 'payment')
    ? { ...draft, defaultMode: 'guided' }
    : draft
}

const anyTime = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

/** Output-only fields that clients send back; the service ignores them. */
const anyOutputOnly = partly<Record<(typeof outputOnlyFields)[number], unknown>>({
  createTime: anyTime,
  live: fc.boolean(),
  path: fc.tuple(fc.uuid(), fc.uuid()).map(([o, f]) => `organizations/${o}/forms/${f}`),
  publicId: fc.stringMatching(/^[A-Za-z0-9]{10}$/),
  publicUrl: anyUrl,
  replyCount: fc.maxSafeNat(),
  updateTime: anyTime,
})

/** Valid drafts as clients send them: members are optional, none is `null`. */
export const draftInputArbitrary = anyInput((value) => value)

/** Valid drafts with all members. */
export const draftArbitrary: fc.Arbitrary<FormDraft> = draftInputArbitrary.map((input) =>
  FormDraft.parse(input),
)

/** The `form` of a valid create: members are omitted, `null`, or output-only. */
export const createFormArbitrary: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    anyInput((value) => fc.option(value, { freq: 8 })),
    anyOutputOnly,
  )
  .map(([input, outputOnly]) => ({ ...outputOnly, ...input }))
