import type { Step } from '@fms/client'
import { asText, type JsonObject } from '../../json/values.ts'
import { choicesOf } from '../../preview/choices.ts'
import type { Choice } from '../../preview/shown-step.ts'
import { kindOfStep, type StepKind } from '../../preview/step-kind.ts'
import { texts } from '../../texts.ts'

const onlyAnswered = ['isAnswered']
const ofNumbers = ['equals', 'greaterThan', 'lessThan', 'isAnswered']
const ofTexts = ['equals', 'contains', 'startsWith', 'isAnswered']
const ofOneChoice = ['equals', 'isAnswered']
/** The operators that make sense for the answer to a question, the most likely one first. */
const operatorsOf: Partial<Record<StepKind, readonly string[]>> = {
  text: ofTexts,
  'long-text': ofTexts,
  email: ofTexts,
  date: ofOneChoice,
  time: ofOneChoice,
  choice: ofOneChoice,
  'yes-no': ofOneChoice,
  'multiple-choice': ['includes', 'isAnswered'],
  number: ofNumbers,
  rating: ofNumbers,
  scale: ofNumbers,
  ranking: onlyAnswered,
  file: onlyAnswered,
  payment: onlyAnswered,
}
const allOperators = Object.keys(texts.branches.operators)

/** What the editor knows about a question: how its answer can be compared, and with what. */
export interface Question {
  operators: readonly string[]
  isNumber: boolean
  /** The answers to choose from; none for those that are written. */
  answers: readonly Choice[]
}

export const asQuestion = (step: JsonObject): Question => {
  const kind = kindOfStep({ type: asText(step.type) })
  const operators = operatorsOf[kind] ?? allOperators
  const isNumber = operators === ofNumbers
  // A step is JSON: its type has no index signature.
  const choices = isNumber ? [] : choicesOf({ ...step, type: asText(step.type) } as unknown as Step)
  return { operators, isNumber, answers: choices.filter(({ label }) => label.trim() !== '') }
}

/** Each operator, and turned round by `negate`, which begins with `!` here. @param present stays one of them */
export const operatorChoices = ({ operators }: Question, present: string): Choice[] =>
  allOperators
    .filter((name) => name === present || operators.includes(name))
    .flatMap((name): Choice[] => {
      const [holds, holdsNot] = texts.branches.operators[name]!
      return [
        { value: name, label: holds },
        { value: `!${name}`, label: holdsNot },
      ]
    })
