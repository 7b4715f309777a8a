import type { Form, Step } from '@fms/client'
import { asList, asObject, asText } from '../json/values.ts'
import { isSameLocale, keyOfLocale } from './locales.ts'

/** What respondents can choose: what they read, and what it is for conditions. */
export interface Choice {
  label: string
  value: string
}

/** A step as a respondent reads it. */
export interface ShownStep {
  title: string
  description: string
  buttonText: string
  options: readonly Choice[]
}

/** The translations into a language. Undefined for that of the form. */
export const translationInto = ({ sourceLocale, translations }: Form['i18n'], locale: string) => {
  const key = isSameLocale(locale, sourceLocale) ? undefined : keyOfLocale(translations, locale)
  return key === undefined ? undefined : translations[key]
}

/** The texts of a step in a language; those of the source language where there is no translation. */
export const textsIn = ({ i18n }: Pick<Form, 'i18n'>, step: Step, locale: string): ShownStep => {
  const translations = translationInto(i18n, locale)?.steps ?? {}
  const translated = Object.hasOwn(translations, step.key) ? translations[step.key] : undefined
  const textOf = (name: 'title' | 'description' | 'buttonText') =>
    translated?.[name]?.value || asText(step[name])
  return {
    title: textOf('title'),
    description: textOf('description'),
    buttonText: textOf('buttonText'),
    options: optionsOf(step).map(({ label, value }, index) => ({
      label: translated?.options[index]?.value || label,
      value,
    })),
  }
}

/** The options of a step in the language of the form. */
export const optionsOf = (step: Step): Choice[] =>
  'options' in step ? asList(step.options).map(asOption) : []

/** For conditions, an option is its key, or its text if it has none. */
export const asOption = (option: unknown): Choice => {
  if (typeof option === 'string') return { label: option, value: option }
  const { key, id, value, label, title, text } = asObject(option)
  const name = String(key ?? id ?? value ?? '')
  const shown = asText(label) || asText(title) || asText(text) || name
  return { label: shown, value: name || shown }
}
