import type { Branch, Condition, Form, Step } from '@fms/client'
import { asText } from '../json/values.ts'

/** Answers by the key of their step: a text, or the chosen options. */
export type Answers = ReadonlyMap<string, string | readonly string[]>

/** The comparison of an answer with the value of a condition. */
type Compare = (answer: string | readonly string[], value: string) => boolean

const texts = (answer: string | readonly string[]): readonly string[] =>
  typeof answer === 'string' ? [answer] : answer

const is: Compare = (answer, value) =>
  texts(answer).some((text) => text.toLowerCase() === value.toLowerCase())
const isNot: Compare = (answer, value) => !is(answer, value)
const contains: Compare = (answer, value) =>
  texts(answer).some((text) => text.toLowerCase().includes(value.toLowerCase()))
const isAbove: Compare = (answer, value) => Number(texts(answer)[0] || Number.NaN) > Number(value)
const isBelow: Compare = (answer, value) => Number(texts(answer)[0] || Number.NaN) < Number(value)

/** By operator, letter case, `-` and `_` ignored. The service stores any operator. */
const comparisons = new Map<string, Compare>([
  ['equals', is],
  ['is', is],
  ['notequals', isNot],
  ['isnot', isNot],
  ['contains', contains],
  ['greaterthan', isAbove],
  ['lessthan', isBelow],
  ['isempty', (answer) => texts(answer).join('') === ''],
  ['isnotempty', (answer) => texts(answer).join('') !== ''],
])

/** The next step after an answer, and the operators on the way that the preview does not know. */
export interface Next {
  /** Undefined after the last one. */
  step: Step | undefined
  /** The key that a branch leads to, if no step has it. */
  missingKey?: string
  unknownOperators: string[]
}

/** Where a respondent goes from a step: along the first branch that holds, else to the step that follows. */
export const nextStep = ({ steps }: Pick<Form, 'steps'>, from: Step, answers: Answers): Next => {
  const unknownOperators: string[] = []
  const holds = ({ stepKey, operator, value, negate }: Condition): boolean => {
    const compare = comparisons.get(operator.toLowerCase().replaceAll(/[-_\s]/g, ''))
    if (compare === undefined) {
      unknownOperators.push(operator)
      return false
    }
    return compare(answers.get(stepKey) ?? '', value) !== negate
  }
  const branch = branchesOf(from).find(({ groups }) => groups.some((group) => group.every(holds)))
  if (branch) {
    const step = steps.find(({ key }) => key === branch.targetStepKey)
    return { step, unknownOperators, ...(step === undefined && { missingKey: branch.targetStepKey }) }
  }
  const following = kindOfStep(from) === 'end' ? undefined : steps[steps.indexOf(from) + 1]
  return { step: following, unknownOperators }
}

const branchesOf = ({ branches }: Step): readonly Branch[] => branches ?? []

/** A step as a respondent reads it. */
export interface ShownStep {
  title: string
  description: string
  buttonText: string
  /** What the options show and what they stand for. */
  options: readonly { label: string; value: string }[]
}

/** The texts of a step in a language; those of the source language where there is no translation. */
export const textsIn = ({ i18n }: Pick<Form, 'i18n'>, step: Step, locale: string): ShownStep => {
  const translated = locale === i18n.sourceLocale ? undefined : i18n.translations[locale]?.steps[step.key]
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

const optionsOf = (step: Step) => {
  const options: unknown = 'options' in step ? step.options : undefined
  if (!Array.isArray(options)) return []
  return options.map((option: unknown) => {
    if (typeof option === 'string') return { label: option, value: option }
    const { key, id, value, label, title, text } = Object(option) as Record<string, unknown>
    const name = String(key ?? id ?? value ?? '')
    return { label: asText(label) || asText(title) || asText(text) || name, value: name }
  })
}

/** How the preview draws a step. */
export type StepKind =
  | 'start'
  | 'end'
  | 'text'
  | 'long-text'
  | 'choice'
  | 'multiple-choice'
  | 'rating'
  | 'number'
  | 'email'
  | 'date'
  | 'yes-no'
  | 'unknown'

const kinds = new Map<string, StepKind>([
  ['start', 'start'],
  ['end', 'end'],
  ...kindOf('text', 'text', 'shorttext', 'name', 'phone', 'url'),
  ...kindOf('long-text', 'longtext', 'textarea', 'paragraph'),
  ...kindOf('choice', 'choice', 'singlechoice', 'select', 'dropdown', 'radio'),
  ...kindOf('multiple-choice', 'multiplechoice', 'multiselect', 'checkboxes'),
  ...kindOf('rating', 'rating', 'scale', 'nps', 'stars'),
  ...kindOf('number', 'number'),
  ...kindOf('email', 'email'),
  ...kindOf('date', 'date'),
  ...kindOf('yes-no', 'yesno', 'boolean'),
])

function kindOf(kind: StepKind, ...types: string[]): [string, StepKind][] {
  return types.map((type) => [type, kind])
}

/** The kind of a step; letter case, `-` and `_` of its type do not count. */
export const kindOfStep = ({ type }: Pick<Step, 'type'>): StepKind =>
  kinds.get(type.toLowerCase().replaceAll(/[-_\s]/g, '')) ?? 'unknown'
