import type { Branch, Condition, Step } from '@fms/client'
import type { conditionOperators } from '@fms/contracts/steps'
import type { PreviewedForm } from './as-form.ts'
import { kindOfStep } from './step-kind.ts'

/** An answer: a text, or the chosen options. */
export type Answer = string | readonly string[]

/** Answers by the key of their step. */
export type Answers = ReadonlyMap<string, Answer>

/** The comparison of an answer with the value of a condition. */
type Compare = (answer: Answer, value: string) => boolean

const partsOf = (answer: Answer): readonly string[] => (typeof answer === 'string' ? [answer] : answer)

const equals: Compare = (answer, value) =>
  partsOf(answer).some((part) => part.toLowerCase() === value.toLowerCase())
const contains: Compare = (answer, value) =>
  partsOf(answer).some((part) => part.toLowerCase().includes(value.toLowerCase()))
const startsWith: Compare = (answer, value) =>
  partsOf(answer).some((part) => part.toLowerCase().startsWith(value.toLowerCase()))
const isAbove: Compare = (answer, value) => Number(partsOf(answer)[0] || Number.NaN) > Number(value)
const isBelow: Compare = (answer, value) => Number(partsOf(answer)[0] || Number.NaN) < Number(value)

/** By operator of the catalogue. The service stores any other one, too. */
const comparisons = new Map<string, Compare>(
  Object.entries({
    equals,
    contains,
    startsWith,
    greaterThan: isAbove,
    lessThan: isBelow,
    isAnswered: (answer) => partsOf(answer).join('') !== '',
    includes: equals,
  } satisfies Record<keyof typeof conditionOperators, Compare>),
)

/** The next step after an answer, and the operators on the way that the preview does not know. */
export interface Next {
  /** Undefined after the last one. */
  step: Step | undefined
  /** The key that a branch leads to, if no step has it. */
  missingKey?: string
  unknownOperators: string[]
}

/** Where a respondent goes from a step: along the first branch that holds, else to the step that follows. */
export const nextStep = ({ steps }: Pick<PreviewedForm, 'steps'>, from: Step, answers: Answers): Next => {
  const unknownOperators: string[] = []
  const holds = ({ stepKey, operator, value, negate }: Condition): boolean => {
    const compare = comparisons.get(operator)
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
