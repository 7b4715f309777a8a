import type { Branch, Condition, Form, Step } from '@fms/client'
import { asList, asObject, asText, isObject, type JsonObject } from '../json/values.ts'

/** What the preview reads of a form. */
export type PreviewedForm = Pick<
  Form,
  'name' | 'description' | 'branding' | 'steps' | 'i18n' | 'theme' | 'backgrounds'
>

/** Fields as a form that can be shown while somebody edits them: a member of another kind than expected counts as absent. */
export const asForm = (fields: JsonObject): PreviewedForm => {
  const i18n = asObject(fields.i18n)
  const translations = Object.entries(asObject(i18n.translations)).map(([locale, each]) => {
    const { steps, ...members } = asObject(each)
    const translated = Object.entries(asObject(steps)).map(([key, step]) => [
      key,
      { ...asObject(step), options: asList(asObject(step).options) },
    ])
    return [locale, { ...members, steps: Object.fromEntries(translated) }]
  })
  return {
    name: asText(fields.name),
    description: asText(fields.description),
    branding: asObject(fields.branding),
    steps: asSteps(fields.steps),
    theme: asObject(fields.theme),
    backgrounds: asList(fields.backgrounds),
    i18n: {
      sourceLocale: asText(i18n.sourceLocale) || 'en',
      supportedLocales: asList(i18n.supportedLocales).filter((locale) => typeof locale === 'string'),
      translations: Object.fromEntries(translations),
    },
  } as unknown as PreviewedForm
}

/** One for each, so that an index of a field path finds its step. */
export const asSteps = (steps: unknown): Step[] =>
  asList(steps).map(asObject).map(asStep) as unknown as Step[]

const asStep = (step: JsonObject) => ({
  ...step,
  type: asText(step.type),
  key: asText(step.key),
  branches: asList(step.branches).filter(isObject).map(asBranch),
})

/** With the members that the console does not know. */
export const asBranch = (branch: JsonObject): Branch => ({
  ...branch,
  targetStepKey: asText(branch.targetStepKey),
  groups: asList(branch.groups).map((group) => asList(group).filter(isObject).map(asCondition)),
})

const asCondition = (condition: JsonObject): Condition => ({
  ...condition,
  stepKey: asText(condition.stepKey),
  operator: asText(condition.operator),
  value: asText(condition.value),
  negate: condition.negate === true,
})
