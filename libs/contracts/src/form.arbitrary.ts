import fc from 'fast-check'
import { FormDraft, FormMode, FormType } from './form.ts'

/** Text of any code points, NUL and those outside the basic plane included. */
const anyText = (maxLength = 12, minLength = 0) => fc.string({ unit: 'binary', minLength, maxLength })

const anyName = anyText(200, 1).filter((name) => /[^\s\p{White_Space}]/u.test(name))
const anyUrl = fc.oneof(fc.constant(''), fc.webUrl({ withQueryParameters: true, withFragments: true }))
const anyOpenValue = anyText(64, 1)
const anyLocale = fc.constantFrom('en', 'de', 'pt-BR', 'zh-cmn-Hans-CN', 'x-private', 'i-klingon')
const anyKey = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/)
const atLeastZero = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })

/** Member names that no body can have. */
const forbiddenNames = ['__proto__', 'constructor', 'prototype']

/** Any JSON value without forbidden names. */
const anyJson = fc
  .json({ stringUnit: 'binary' })
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

/** What this service does not know of a step, and keeps. */
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

/** Leaves a value as it is, or lets it be cleared. */
type Clearing = <T>(value: fc.Arbitrary<T>) => fc.Arbitrary<T | null>

/**
 * Members as clients send them: any of them may be left out, and where an object may hold `null`, `clearing` says
 * whether it does. Never inside a list: a merge patch takes its items as they are.
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

/** A form with a payment step is guided. */
const guidedWhenPaid = (draft: Record<string, unknown>) => {
  const steps = (draft.steps ?? []) as { type: string }[]
  return 'defaultMode' in draft && steps.some(({ type }) => type === 'payment')
    ? { ...draft, defaultMode: 'guided' }
    : draft
}

const anyTime = fc
  .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
  .map((date) => date.toISOString())

/** What clients send back of what they read; it counts for nothing. */
const anyServerOwned = partly({
  createTime: anyTime,
  live: fc.boolean(),
  path: fc.tuple(fc.uuid(), fc.uuid()).map(([o, f]) => `organizations/${o}/forms/${f}`),
  publicId: fc.stringMatching(/^[A-Za-z0-9]{10}$/),
  publicUrl: anyUrl,
  replyCount: fc.maxSafeNat(),
  updateTime: anyTime,
})

/** Valid drafts as clients may write them: members left out, none cleared. */
export const draftInputArbitrary = anyInput((value) => value)

/** Valid drafts, complete. */
export const draftArbitrary: fc.Arbitrary<FormDraft> = draftInputArbitrary.map((input) =>
  FormDraft.parse(input),
)

/** The `form` of a create that is answered 200: members left out, cleared with `null`, or owned by the service. */
export const createFormArbitrary: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    anyInput((value) => fc.option(value, { freq: 8 })),
    anyServerOwned,
  )
  .map(([input, serverOwned]) => ({ ...serverOwned, ...input }))
