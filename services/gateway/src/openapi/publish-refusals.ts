import { apiError } from '@fms/aip'
import { type BreakingChange, compatibilityRules, type PublishRule } from '@fms/contracts'

/** A violation of each rule of a publish: its subject and description. */
const violations: Readonly<Record<PublishRule | BreakingChange, [string, string]>> = {
  BRANCH_TARGET: ['form.steps[0].branches[0].targetStepKey', 'must be the key of a step'],
  CONDITION_STEP: ['form.steps[0].branches[0].groups[0][0].stepKey', 'must not be a later step'],
  END_STEP: ['form.steps[0]', 'must come after every question'],
  LOCALE: ['form.i18n.sourceLocale', 'must be one of supportedLocales'],
  MODE: ['form.defaultMode', 'must not be "voice" while voice.enabled is false'],
  PRICE_RANGE: ['form.marketplace.services[0].priceRange.min', 'must not be above max'],
  QUESTIONS: ['form.steps', 'must hold at least one step that is neither start nor end'],
  START_STEP: ['form.steps[1]', 'must be the only start step and the first step'],
  TRANSLATED_STEP: ['form.i18n.translations.de.steps.gone', 'must translate a step of the form'],
  OPTION_REMOVED: [
    'form.steps[0].options[1]',
    'of the live revision must remain: answers may contain "online"',
  ],
  STEP_REMOVED: ['form.steps[0]', 'of the live revision must remain: the question "visit" may have answers'],
  STEP_TYPE_CHANGED: ['form.steps[0].type', 'must remain "choice": the question may have answers'],
}

/** An error for each way in which a publish is refused. */
export const publishRefusals = Object.entries(violations).map(([type, [subject, description]]) => ({
  type,
  error: apiError(
    type in compatibilityRules ? 'BREAKING_CHANGES' : 'DRAFT_NOT_PUBLISHABLE',
    { subject },
    { preconditionViolations: [{ type, subject, description }] },
  ),
}))
