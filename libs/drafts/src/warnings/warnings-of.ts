import type { FormDraft, FormWarning } from '@fms/contracts'
import { isQuestion } from '../is-question.ts'
import { takeViolations } from '../take-violations.ts'
import { branchWarnings } from './branch-warnings.ts'
import { stepWarnings } from './step-warnings.ts'
import { shown, warning } from './warning.ts'

/** Later warnings are not computed. */
const maxWarnings = 100

/**
 * What the catalogue of steps would do otherwise, and what respondents would stumble over: the first 100 warnings. Nothing
 * of it prevents a write; of a publish only what `publishViolations` finds, too. The work is linear in the draft.
 */
export const warningsOf = (draft: FormDraft): FormWarning[] =>
  takeViolations(everyWarning(draft), maxWarnings)

function* everyWarning(draft: FormDraft): Iterable<FormWarning> {
  yield* stepWarnings(draft)
  yield* branchWarnings(draft)
  if (draft.steps.some(isQuestion) && !draft.steps.some(({ type }) => type === 'end')) {
    const message = 'has no end: add a step of the type end, which thanks respondents'
    yield warning(['steps'], 'END_MISSING', message)
  }
  yield* colors(draft)
  yield* locales(draft)
}

const hexColor = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i

function* colors({ theme }: FormDraft): Iterable<FormWarning> {
  for (const name of ['backgroundColor', 'buttonTextColor', 'foregroundColor', 'primaryColor'] as const) {
    if (!hexColor.test(theme[name])) {
      const message = 'is no colour such as #2563eb, so that it may not be shown'
      yield warning(['theme', name], 'COLOR_INVALID', message)
    }
  }
}

function* locales({ i18n }: FormDraft): Iterable<FormWarning> {
  const translated = new Set(
    Object.entries(i18n.translations)
      .filter(([, { name, description, steps }]) => name || description || Object.keys(steps).length > 0)
      .map(([locale]) => locale.toLowerCase()),
  )
  translated.add(i18n.sourceLocale.toLowerCase())
  for (const [index, locale] of i18n.supportedLocales.entries()) {
    if (!translated.has(locale.toLowerCase())) {
      const path = ['i18n', 'supportedLocales', index]
      yield warning(
        path,
        'LOCALE_UNTRANSLATED',
        `${shown(locale)} has no translations: respondents read ${i18n.sourceLocale}`,
      )
    }
  }
}
