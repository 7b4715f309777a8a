import type { Condition, Step } from '@fms/client'
import { shortened } from '../elements/shortened.ts'
import { asList, asObject, asText, isObject } from '../json/values.ts'
import { choicesOf } from '../preview/choices.ts'
import { texts } from '../texts.ts'

/** A value of a form for people: an option by its label, a branch as a sentence, and JSON where there are no words. */
export const wordsOfValue = (value: unknown, steps: readonly Step[]): string =>
  shortened(wordsOf(value, steps) ?? JSON.stringify(value))

/** Undefined if there are no words. */
const wordsOf = (value: unknown, steps: readonly Step[]): string | undefined => {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return texts.changes.empty
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? texts.preview.yes : texts.preview.no
  if (Array.isArray(value)) {
    const items = value.map((each) => wordsOf(each, steps))
    return items.every((each) => each !== undefined) ? items.join(' · ') : undefined
  }
  if (!isObject(value)) return undefined
  if (typeof value.targetStepKey === 'string') return branchInWords(value, steps)
  const { label, stale, value: translated } = value
  if (typeof label === 'string') return label
  return typeof stale === 'boolean' ? wordsOf(translated, steps) : undefined
}

const branchInWords = (branch: object, steps: readonly Step[]): string => {
  const { targetStepKey, groups } = asObject(branch)
  const conditions = asList(groups)
    .map((group) =>
      asList(group)
        .map((each) => conditionInWords(asObject(each) as unknown as Condition, steps))
        .join(` ${texts.branches.and}`),
    )
    .join(` ${texts.branches.or}`)
  const target = nameOf(asText(targetStepKey), steps)
  return `${conditions && `${texts.branches.if}${conditions}, `}${texts.branches.goTo}${target}`
}

const conditionInWords = (
  { stepKey, operator, value, negate }: Condition,
  steps: readonly Step[],
): string => {
  const comparison = texts.branches.operators[operator]?.[negate ? 1 : 0] ?? operator
  const question = steps.find(({ key }) => key === stepKey)
  const answer = question && choicesOf(question).find((choice) => choice.value === value)?.label
  return [nameOf(stepKey, steps), comparison, answer ?? value].filter(Boolean).join(' ')
}

const nameOf = (stepKey: string, steps: readonly Step[]): string =>
  asText(steps.find(({ key }) => key === stepKey)?.title) || stepKey
