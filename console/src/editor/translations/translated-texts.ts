import type { JsonValue } from '@fms/client'
import { asList, asObject, asText, type JsonObject, memberOf } from '../../json/values.ts'
import { isSameLocale, keyOfLocale } from '../../preview/locales.ts'
import { labelOf } from '../steps/option-lines.ts'

/** Where a translated text is in a translation: the member of the form, or the member of a step, or one of its options. */
export type TextPlace =
  | readonly [string]
  | readonly ['steps', string, string]
  | readonly ['steps', string, 'options', number]

/** A text of a form that respondents read. */
export interface SourceText {
  place: TextPlace
  text: string
  /** The index of its step. */
  stepIndex?: number
}

/** The texts of a form in the order in which respondents read them. */
export const sourceTexts = ({ name, description, steps }: JsonObject): SourceText[] => {
  const ofForm = Object.entries({ name, description }).map(
    ([member, text]): SourceText => ({ place: [member], text: asText(text) }),
  )
  const ofSteps = asList(steps).flatMap((each, stepIndex) => {
    const step = asObject(each)
    const key = asText(step.key)
    const members = ['title', 'description', 'buttonText'].map(
      (member): SourceText => ({ place: ['steps', key, member], text: asText(step[member]), stepIndex }),
    )
    const options = asList(step.options).map(
      (option, index): SourceText => ({
        place: ['steps', key, 'options', index],
        text: labelOf(option),
        stepIndex,
      }),
    )
    return [...members, ...options]
  })
  return [...ofForm, ...ofSteps].filter(({ text }) => text.trim() !== '')
}

/** The locales that a form is translated into. */
export const targetLocales = (i18n: JsonObject): string[] =>
  asList(i18n.supportedLocales).filter(
    (locale): locale is string => typeof locale === 'string' && !isSameLocale(locale, i18n.sourceLocale),
  )

/** A translated text as it is stored. */
export const translationAt = (i18n: JsonObject, locale: string, place: TextPlace): JsonObject => {
  const translations = asObject(i18n.translations)
  let value: JsonValue | undefined = translations[keyOfLocale(translations, locale) ?? '']
  for (const name of place)
    value = typeof name === 'number' ? asList(value)[name] : memberOf(asObject(value), name)
  return asObject(value)
}

/** Sets a translated text. @param text `""` removes it */
export const withTranslation = (
  i18n: JsonObject,
  locale: string,
  place: TextPlace,
  text: string,
): JsonObject => {
  const translated = { ...translationAt(i18n, locale, place), value: text, stale: false }
  const translations = asObject(i18n.translations)
  const key = keyOfLocale(translations, locale) ?? locale
  return {
    ...i18n,
    translations: { ...translations, [key]: replaced(memberOf(translations, key), place, translated) },
  }
}

const replaced = (
  container: JsonValue | undefined,
  [name, ...rest]: readonly (string | number)[],
  translated: JsonObject,
): JsonValue => {
  if (name === undefined) return translated
  if (typeof name === 'number') {
    // Options are translated by their place: those before it are not translated yet.
    const list = asList(container)
    return Array.from({ length: Math.max(list.length, name + 1) }, (_, index) =>
      index === name ? translated : (list[index] ?? { value: '' }),
    )
  }
  const { [name]: former, ...others } = asObject(container)
  if (rest.length === 0 && translated.value === '') return others
  return { ...asObject(container), [name]: replaced(former, rest, translated) }
}

export const withLocale = (i18n: JsonObject, locale: string): JsonObject => {
  const locales = asList(i18n.supportedLocales)
  const isThere = locales.some((each) => isSameLocale(each, locale))
  return isThere ? i18n : { ...i18n, supportedLocales: [...locales, locale] }
}

/** Changes the language of the form's own texts, which is always a supported one. One that has translations remains. */
export const withSourceLocale = (i18n: JsonObject, sourceLocale: string): JsonObject => {
  const { sourceLocale: former, supportedLocales, translations } = i18n
  const translated = asObject(translations)
  const others = asList(supportedLocales).filter(
    (locale) =>
      !isSameLocale(locale, sourceLocale) &&
      (!isSameLocale(locale, former) || keyOfLocale(translated, asText(former)) !== undefined),
  )
  return { ...i18n, sourceLocale, supportedLocales: [sourceLocale, ...others] }
}

/** Removes a locale with its texts. */
export const withoutLocale = (i18n: JsonObject, locale: string): JsonObject => {
  const others = Object.entries(asObject(i18n.translations)).filter(([each]) => !isSameLocale(each, locale))
  const supportedLocales = asList(i18n.supportedLocales).filter((each) => !isSameLocale(each, locale))
  return { ...i18n, supportedLocales, translations: Object.fromEntries(others) }
}

/** Moves the translations of a step to another key. @param key undefined removes them: a publish refuses texts of no step */
export const withStepKey = (i18n: JsonObject, former: string, key: string | undefined): JsonObject =>
  withTranslatedSteps(i18n, former, ({ [former]: step, ...steps }) =>
    key === undefined ? steps : { ...steps, [key]: step! },
  )

/** Moves the translations of the options of a step with these. @param former the former place of each; undefined for a new one */
export const withOptionsFrom = (
  i18n: JsonObject,
  key: string,
  former: readonly (number | undefined)[],
): JsonObject =>
  withTranslatedSteps(i18n, key, ({ [key]: step, ...steps }) => {
    const options = asList(asObject(step).options)
    const moved = former.map((place) => options[place ?? -1] ?? { value: '' })
    const count = moved.findLastIndex((each) => asObject(each).value !== '') + 1
    return { ...steps, [key]: { ...asObject(step), options: moved.slice(0, count) } }
  })

/** Changes the translated steps of each locale that has a step. The same object if none has. */
const withTranslatedSteps = (
  i18n: JsonObject,
  key: string,
  change: (steps: JsonObject) => JsonObject,
): JsonObject => {
  const translations = Object.entries(asObject(i18n.translations))
  const has = (each: JsonValue) => memberOf(asObject(asObject(each).steps), key) !== undefined
  if (!translations.some(([, each]) => has(each))) return i18n
  const changed = translations.map(([locale, each]) => [
    locale,
    has(each) ? { ...asObject(each), steps: change(asObject(asObject(each).steps)) } : each,
  ])
  return { ...i18n, translations: Object.fromEntries(changed) }
}

/** Whether a language has texts of a step. */
export const isTranslated = (i18n: JsonObject, key: string): boolean =>
  Object.values(asObject(i18n.translations)).some((each) =>
    Object.hasOwn(asObject(asObject(each).steps), key),
  )
