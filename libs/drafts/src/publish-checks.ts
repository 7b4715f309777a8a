import { fieldPath } from '@fms/aip'
import { type FormDraft, hasPaymentStep, type PreconditionViolation, type PublishRule } from '@fms/contracts'
import { isQuestion } from './is-question.ts'
import { takeViolations } from './take-violations.ts'

/** At most 1,000 violations, by field path, that prevent a publish: only a draft may be incomplete. */
export const publishViolations = (draft: FormDraft): PreconditionViolation[] =>
  takeViolations(everyViolation(draft))

function* everyViolation(draft: FormDraft): Iterable<PreconditionViolation> {
  for (const check of [stepOrder, branches, translations, locales, prices, modes]) yield* check(draft)
}

type Check = (draft: FormDraft) => Iterable<PreconditionViolation>

const violation = (type: PublishRule, path: PropertyKey[], description: string): PreconditionViolation => ({
  type,
  subject: fieldPath(['form', ...path]),
  description,
})

const stepOrder: Check = function* ({ type, steps }) {
  const lastQuestion = steps.findLastIndex(isQuestion)
  for (const [index, step] of steps.entries()) {
    if (step.type === 'start' && index > 0) {
      yield violation('START_STEP', ['steps', index], 'must be the only start step and the first step')
    }
    if (step.type === 'end' && index < lastQuestion) {
      yield violation('END_STEP', ['steps', index], 'must come after every question')
    }
  }
  if (type === 'structured' && lastQuestion < 0) {
    yield violation('QUESTIONS', ['steps'], 'must hold at least one step that is neither start nor end')
  }
}

const branches: Check = function* ({ steps }) {
  const indexOfKey = new Map(steps.map(({ key }, index) => [key, index]))
  for (const [index, step] of steps.entries()) {
    for (const [branchIndex, branch] of (step.branches ?? []).entries()) {
      const path = ['steps', index, 'branches', branchIndex]
      if (!indexOfKey.has(branch.targetStepKey)) {
        yield violation('BRANCH_TARGET', [...path, 'targetStepKey'], 'must be the key of a step')
      }
      for (const [groupIndex, group] of branch.groups.entries()) {
        for (const [conditionIndex, { stepKey }] of group.entries()) {
          const stepIndex = indexOfKey.get(stepKey)
          const subject = [...path, 'groups', groupIndex, conditionIndex, 'stepKey']
          if (stepIndex === undefined) yield violation('CONDITION_STEP', subject, 'must be the key of a step')
          else if (stepIndex > index) yield violation('CONDITION_STEP', subject, 'must not be a later step')
        }
      }
    }
  }
}

const translations: Check = function* ({ steps, i18n }) {
  const keys = new Set(steps.map(({ key }) => key))
  for (const [locale, translation] of Object.entries(i18n.translations)) {
    for (const key of Object.keys(translation.steps)) {
      if (!keys.has(key)) {
        const path = ['i18n', 'translations', locale, 'steps', key]
        yield violation('TRANSLATED_STEP', path, 'must translate a step of the form')
      }
    }
  }
}

const locales: Check = function* ({ i18n }) {
  const supported = new Set(i18n.supportedLocales.map((locale) => locale.toLowerCase()))
  if (!supported.has(i18n.sourceLocale.toLowerCase())) {
    yield violation('LOCALE', ['i18n', 'sourceLocale'], 'must be one of supportedLocales')
  }
  for (const locale of Object.keys(i18n.translations)) {
    if (!supported.has(locale.toLowerCase())) {
      yield violation('LOCALE', ['i18n', 'translations', locale], 'must be one of supportedLocales')
    }
  }
}

const prices: Check = function* ({ marketplace }) {
  for (const [index, { priceRange }] of marketplace.services.entries()) {
    if (priceRange && priceRange.min > priceRange.max) {
      const path = ['marketplace', 'services', index, 'priceRange', 'min']
      yield violation('PRICE_RANGE', path, 'must not be above max')
    }
  }
}

const modes: Check = function* ({ steps, defaultMode, voice }) {
  if (defaultMode !== 'guided' && hasPaymentStep(steps)) {
    yield violation('MODE', ['defaultMode'], 'must be "guided" in a form with a payment step')
  }
  if (defaultMode === 'voice' && !voice.enabled) {
    yield violation('MODE', ['defaultMode'], 'must not be "voice" while voice.enabled is false')
  }
}
