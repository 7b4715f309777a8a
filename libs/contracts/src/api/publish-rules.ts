import type { BreakingChange } from '../changes.ts'

/** The rules that a draft follows to be published, in Markdown. Their names are the types of violations. */
export const publishRules = {
  BRANCH_TARGET: 'The target of a branch is the key of a step.',
  CONDITION_STEP: 'The step of a condition exists, and is not after the step of the branch.',
  END_STEP: 'End steps come after every question.',
  LOCALE: '`sourceLocale` and every translated locale are among `supportedLocales`, letter case ignored.',
  MODE: 'A form with a payment step is `guided`; `voice` mode needs `voice.enabled`.',
  PRICE_RANGE: '`min` is not above `max`.',
  QUESTIONS: 'A `structured` form has at least one step that is neither start nor end.',
  START_STEP: 'There is at most one start step, and it is the first step.',
  TRANSLATED_STEP: 'A translated step exists.',
} as const
export type PublishRule = keyof typeof publishRules

/** The rules that a publish with `refuseBreaking` adds. */
export const compatibilityRules: Readonly<Record<BreakingChange, string>> = {
  OPTION_REMOVED: 'The options of the live revision remain.',
  STEP_REMOVED: 'The questions of the live revision remain.',
  STEP_TYPE_CHANGED: 'The questions of the live revision keep their `type`.',
}
