import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json/values.ts'
import {
  sourceTexts,
  targetLocales,
  translationAt,
  withLocale,
  withOptionsFrom,
  withoutLocale,
  withSourceLocale,
  withStepKey,
  withTranslation,
} from './translated-texts.ts'

const i18n: JsonObject = { sourceLocale: 'en', supportedLocales: ['en'], translations: {} }
const step = {
  key: 'day',
  title: 'Which day?',
  description: '',
  options: ['Friday', { key: 's', label: 'Saturday' }],
}

describe('translations', () => {
  it('are of the texts that respondents read', () => {
    const texts = sourceTexts({ name: 'Event', description: '', steps: [step] })

    expect(texts.map(({ place, text }) => `${place.join('.')} ${text}`)).toEqual([
      'name Event',
      'steps.day.title Which day?',
      'steps.day.options.0 Friday',
      'steps.day.options.1 Saturday',
    ])
  })

  it('are set, found and removed, and keep what programs have written beside them', () => {
    const german = withLocale(i18n, 'de')
    expect(targetLocales(german)).toEqual(['de'])
    const option = ['steps', 'day', 'options', 1] as const
    const title = ['steps', 'day', 'title'] as const
    const first = withTranslation(german, 'de', option, 'Samstag')
    const both = withTranslation(first, 'de', title, 'Welcher Tag?')
    const stale = { value: 'Welcher Tag?', sourceHash: 'abc', stale: true }

    expect(both.translations).toEqual({
      de: {
        steps: {
          day: {
            options: [{ value: '' }, { value: 'Samstag', stale: false }],
            title: { value: 'Welcher Tag?', stale: false },
          },
        },
      },
    })
    expect(translationAt(both, 'de', title).value).toBe('Welcher Tag?')
    expect(translationAt(both, 'fr', title)).toEqual({})
    const marked = { ...both, translations: { de: { steps: { day: { title: stale } } } } }
    expect(translationAt(withTranslation(marked, 'de', title, 'Wann?'), 'de', title)).toEqual({
      value: 'Wann?',
      sourceHash: 'abc',
      stale: false,
    })
    expect(translationAt(withTranslation(both, 'de', title, ''), 'de', title)).toEqual({})
    expect(withoutLocale(both, 'de')).toEqual(i18n)
  })

  it('remain when the language of the form changes, which stays a supported one', () => {
    const german = withTranslation(withLocale(i18n, 'de'), 'de', ['name'], 'Treffen')
    const typed = ['d', 'de', 'de-', 'de-CH'].reduce(withSourceLocale, german)

    expect(typed).toMatchObject({ sourceLocale: 'de-CH', supportedLocales: ['de-CH', 'de'] })
    expect(typed.translations).toEqual(german.translations)
  })

  it('belong to their locale whatever its letter case', () => {
    const german = withTranslation(withLocale(i18n, 'de'), 'de', ['name'], 'Treffen')
    const { translations } = german

    expect(withLocale(german, 'DE')).toBe(german)
    expect(targetLocales({ ...german, sourceLocale: 'EN' })).toEqual(['de'])
    expect(translationAt(german, 'DE', ['name']).value).toBe('Treffen')
    expect(
      withTranslation(
        { ...german, translations: { DE: { name: { value: 'Treffen' } } } },
        'de',
        ['name'],
        '',
      ),
    ).toMatchObject({
      translations: { DE: {} },
    })
    expect(withSourceLocale(german, 'EN')).toEqual({
      sourceLocale: 'EN',
      supportedLocales: ['EN', 'de'],
      translations,
    })
    expect(withoutLocale(german, 'DE')).toEqual(i18n)
  })

  it('follow the options of their step', () => {
    const place = (index: number) => ['steps', 'day', 'options', index] as const
    const friday = withTranslation(i18n, 'de', place(0), 'Freitag')
    const both = withTranslation(friday, 'de', place(1), 'Samstag')
    const values = (moved: JsonObject, count: number) =>
      Array.from({ length: count }, (_, index) => translationAt(moved, 'de', place(index)).value)

    expect(values(withOptionsFrom(both, 'day', [undefined, 0, 1]), 3)).toEqual(['', 'Freitag', 'Samstag'])
    expect(values(withOptionsFrom(both, 'day', [1]), 2)).toEqual(['Samstag', undefined])
    expect(withOptionsFrom(both, 'other', [1])).toBe(both)
  })

  it('follow the key of their step, and go with it', () => {
    const translated = withTranslation(i18n, 'de', ['steps', 'day', 'title'], 'Welcher Tag?')
    const at = (value: JsonObject, key: string) => translationAt(value, 'de', ['steps', key, 'title']).value

    expect(at(withStepKey(translated, 'day', 'date'), 'date')).toBe('Welcher Tag?')
    expect(withStepKey(translated, 'day', undefined).translations).toEqual({ de: { steps: {} } })
    expect(withStepKey(translated, 'other', 'date')).toBe(translated)
  })
})
