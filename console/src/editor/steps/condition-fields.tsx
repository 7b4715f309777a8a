import type { Condition } from '@fms/client'
import { Button } from '../../elements/button.tsx'
import type { Choice } from '../../preview/shown-step.ts'
import { texts } from '../../texts.ts'
import { operatorChoices, type Question } from './question.ts'

/** A condition as a part of a sentence. */
export const ConditionFields = ({
  lead,
  condition,
  questions,
  questionOf,
  onChange,
}: {
  /** The words before the condition. */
  lead: string
  condition: Condition
  questions: readonly Choice[]
  questionOf: (key: string) => Question
  onChange: (condition: Condition | undefined) => void
}) => {
  const { stepKey, operator, value, negate } = condition
  const question = questionOf(stepKey)
  const set = (changes: Partial<Condition>) => onChange({ ...condition, ...changes })
  const ask = (next: string) => {
    const { operators } = questionOf(next)
    if (operators.includes(operator)) set({ stepKey: next, value: '' })
    else set({ stepKey: next, value: '', operator: operators[0]!, negate: false })
  }
  const compare = (chosen: string) => {
    const next = chosen.replace('!', '')
    set({ operator: next, negate: chosen !== next, ...(next === 'isAnswered' && { value: '' }) })
  }
  return (
    <span class="sentence">
      {lead}
      <Choices label={texts.branches.question} value={stepKey} choices={questions} onInput={ask} />
      <Choices
        label={texts.branches.comparison}
        value={`${negate ? '!' : ''}${operator}`}
        choices={operatorChoices(question, operator)}
        onInput={compare}
      />
      {operator !== 'isAnswered' && (
        <AnswerField question={question} value={value} onInput={(next) => set({ value: next })} />
      )}
      <Button class="quiet" aria-label={texts.branches.removeCondition} onClick={() => onChange(undefined)}>
        ×
      </Button>
    </span>
  )
}

/** What an answer is compared with. An option is named by its label, and stored as its key. */
const AnswerField = ({
  question: { answers, isNumber },
  value,
  onInput,
}: {
  question: Question
  value: string
  onInput: (value: string) => void
}) => {
  if (answers.length === 0) {
    const attributes = {
      'aria-label': texts.branches.answer,
      value,
      onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onInput(currentTarget.value),
    }
    return isNumber ? (
      <input type="number" step="any" {...attributes} />
    ) : (
      <input type="text" autocomplete="off" {...attributes} />
    )
  }
  // Letter case does not count in comparisons.
  const chosen = answers.find((each) => each.value.toLowerCase() === value.toLowerCase())?.value ?? value
  return <Choices label={texts.branches.answer} value={chosen} choices={answers} onInput={onInput} />
}

/** A choice in a sentence. A value that is none of the choices, such as the key of a removed step, stays chosen. */
export const Choices = ({
  label,
  value,
  choices,
  onInput,
}: {
  label: string
  value: string
  choices: readonly Choice[]
  onInput: (value: string) => void
}) => {
  const isKnown = choices.some((each) => each.value === value)
  return (
    <select
      aria-label={label}
      aria-invalid={!isKnown || undefined}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    >
      {!isKnown && <option value={value}>{value || texts.branches.choose}</option>}
      {choices.map((each) => (
        <option key={each.value} value={each.value}>
          {each.label}
        </option>
      ))}
    </select>
  )
}
