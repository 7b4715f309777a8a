import type { Json, JsonObject } from '@fms/aip'

/**
 * A second implementation of creates and patches: the pseudocode of RFC 7396 §2, and the defaults of the decisions,
 * sections 2 and 7. It shares no code with the service and validates nothing.
 */

/** RFC 7396 §2. Works on a copy. */
export const mergeByTheBook = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch
  const merged: JsonObject = isObject(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name]
    else merged[name] = mergeByTheBook(Object.hasOwn(merged, name) ? merged[name] : undefined, value!)
  }
  return merged
}

/** A draft with the defaults of omitted members. */
export const withDefaults = (draft: JsonObject): JsonObject => {
  const filled = fill(
    {
      aiHandoff: { enabled: false },
      backgrounds: [],
      branding: { enabled: false, logoLinkUrl: '', logoUrl: '' },
      context: [],
      defaultMode: 'guided',
      description: '',
      i18n: { sourceLocale: 'en', supportedLocales: ['en'], translations: {} },
      leadScoring: { enabled: false, high: '', low: '', medium: '' },
      marketplace: {
        bookingUrl: '',
        category: '',
        description: '',
        enabled: false,
        industry: '',
        languages: [],
        location: { address: '', area: '', city: '' },
        name: '',
        services: [],
      },
      maxFollowUpQuestions: 3,
      name: 'Untitled form',
      steps: [],
      theme: {
        backgroundColor: '#ffffff',
        buttonRadiusPx: 8,
        buttonSize: 'regular',
        buttonTextColor: '#ffffff',
        fontFamily: 'sans',
        foregroundColor: '#111111',
        primaryColor: '#2563eb',
        textAnimation: 'typing',
        textSize: 'regular',
      },
      tone: 'professional',
      type: 'structured',
      voice: { enabled: false },
    },
    draft,
  )
  const { i18n, marketplace } = filled as Record<string, JsonObject>
  return {
    ...filled,
    backgrounds: items(filled.backgrounds, background),
    steps: items(filled.steps, step),
    i18n: { ...i18n, translations: entries(i18n!.translations, translationSet) },
    marketplace: { ...marketplace, services: items(marketplace!.services, service) },
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fill = (defaults: JsonObject, value: JsonObject): JsonObject => {
  const filled = { ...defaults, ...value }
  for (const [name, inner] of Object.entries(defaults)) {
    if (isObject(inner) && isObject(value[name])) filled[name] = fill(inner, value[name])
  }
  return filled
}

type Fill = (value: JsonObject) => JsonObject

const items = (list: Json | undefined, each: Fill): Json => (list as JsonObject[]).map(each)

const entries = (map: Json | undefined, each: Fill): Json =>
  Object.fromEntries(
    Object.entries(map as Record<string, JsonObject>).map(([key, value]) => [key, each(value)]),
  )

/** Adds defaults to the given members that are present. */
const inside = (value: JsonObject, members: Record<string, (value: Json) => Json>): JsonObject => {
  const filled = { ...value }
  for (const [name, each] of Object.entries(members)) {
    if (Object.hasOwn(filled, name)) filled[name] = each(filled[name]!)
  }
  return filled
}

const background: Fill = (value) => ({ overlayOpacity: 0, position: 'left-half', ...value })

const condition: Fill = (value) => ({ negate: false, value: '', ...value })

const branch: Fill = ({ groups = [], ...value }) => ({
  ...value,
  groups: (groups as JsonObject[][]).map((group) => group.map(condition)),
})

const screen: Fill = (value) =>
  inside(value, {
    background: (given) => background(given as JsonObject),
    branches: (given) => items(given, branch),
  })

/** Only start steps have defaults; all others stay as sent. */
const step: Fill = (value) =>
  screen(
    value.type === 'start'
      ? { title: '', description: '', buttonText: '', logoUrl: '', redirectUrl: '', branches: [], ...value }
      : value,
  )

const translatedValue: Fill = (value) => ({
  override: false,
  sourceHash: '',
  stale: false,
  value: '',
  ...value,
})

const aTranslatedValue = (given: Json) => translatedValue(given as JsonObject)

const translatedStep: Fill = ({ options = [], ...value }) => ({
  ...inside(value, { buttonText: aTranslatedValue, description: aTranslatedValue, title: aTranslatedValue }),
  options: items(options, translatedValue),
})

const translationSet: Fill = ({ steps = {}, ...value }) => ({
  ...inside(value, { description: aTranslatedValue, name: aTranslatedValue }),
  steps: entries(steps, translatedStep),
})

const service: Fill = (value) =>
  inside(
    { category: '', description: '', duration: '', name: '', ...value },
    { priceRange: (given) => ({ currency: '', max: 0, min: 0, ...(given as JsonObject) }) },
  )
