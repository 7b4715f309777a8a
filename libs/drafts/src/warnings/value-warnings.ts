import { didYouMean, suggestion } from '@fms/aip'
import type { FormDraft, FormWarning } from '@fms/contracts'
import { namesOfOption } from './names-of-option.ts'
import { shown, warning } from './warning.ts'

type Step = FormDraft['steps'][number]
type Condition = NonNullable<Step['branches']>[number]['groups'][number][number]

/** The answer to a question, by what makers may call it: the key or the text of an option, in lower case. */
type Answers = ReadonlyMap<string, string>

const typesWithOptions = new Set(['choice', 'multiple-choice', 'dropdown'])

const yesOrNo: Answers = new Map(['yes', 'no'].map((answer) => [answer, answer]))

/** Undefined if there are other answers than options. */
const answersTo = (step: Step): Answers | undefined => {
  const { type } = step
  const options = 'options' in step ? step.options : undefined
  if (type === 'yes-no') return yesOrNo
  if (!typesWithOptions.has(type) || !Array.isArray(options)) return undefined
  const names = options.flatMap((option: unknown) => namesOfOption(option) ?? [])
  // Keys come last: they count if a label is the same.
  return new Map([
    ...names.map(({ label, answer }) => [label.toLowerCase(), answer] as const),
    ...names.map(({ answer }) => [answer.toLowerCase(), answer] as const),
  ])
}

/** Options that are compared with a misspelt one. */
const maxCandidates = 100

/** Warns of conditions that compare with what no respondent can answer. Letter case does not count. */
export const createValueCheck = (steps: readonly Step[]) => {
  const stepOfKey = new Map(steps.map((step) => [step.key, step]))
  const answersOfKey = new Map<string, Answers | undefined>()

  return function* ({ stepKey, operator, value }: Condition, path: PropertyKey[]): Iterable<FormWarning> {
    const step = stepOfKey.get(stepKey)
    if (!step || (operator !== 'equals' && operator !== 'includes')) return
    if (!answersOfKey.has(stepKey)) answersOfKey.set(stepKey, answersTo(step))
    const answers = answersOfKey.get(stepKey)
    const name = value.toLowerCase()
    const meant = answers?.get(name)
    if (!answers || meant?.toLowerCase() === name) return
    const similar = meant ?? didYouMean(value, answers.values().take(maxCandidates))
    const message = `${shown(value)} is no answer to the step ${shown(stepKey)}${suggestion(similar)}`
    yield warning([...path, 'value'], 'VALUE_UNKNOWN', message)
  }
}
