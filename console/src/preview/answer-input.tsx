import type { Step } from '@fms/client'
import { texts } from '../texts.ts'
import type { Answer } from './next-step.ts'
import type { ShownStep } from './shown-step.ts'
import type { StepKind } from './step-kind.ts'

const mostStars = 20

/** The input for the answer to a question. Start and end screens have none. */
export const AnswerInput = ({
  step,
  kind,
  shown,
  answer,
  onAnswer,
}: {
  step: Step
  kind: StepKind
  shown: ShownStep
  answer: Answer | undefined
  onAnswer: (answer: Answer) => void
}) => {
  const label = shown.title || step.key
  const text = typeof answer === 'string' ? answer : ''
  if (kind === 'long-text')
    return (
      <textarea
        aria-label={label}
        rows={4}
        value={text}
        onInput={({ currentTarget }) => onAnswer(currentTarget.value)}
      />
    )
  const attributes = {
    'aria-label': label,
    value: text,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onAnswer(currentTarget.value),
  }
  if (kind === 'text') return <input type="text" {...attributes} />
  if (kind === 'number') return <input type="number" {...attributes} />
  if (kind === 'email') return <input type="email" {...attributes} />
  if (kind === 'date') return <input type="date" {...attributes} />
  const options = optionsOf(step, kind, shown)
  if (options.length === 0) return null
  const isMultiple = kind === 'multiple-choice'
  const chosen = typeof answer === 'string' ? [answer] : (answer ?? [])
  const toggle = (value: string) =>
    chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]
  return (
    <fieldset class="options">
      <legend class="hidden">{label}</legend>
      {options.map(({ label, value }) => (
        <label key={value}>
          <input
            type={isMultiple ? 'checkbox' : 'radio'}
            name={step.key}
            checked={chosen.includes(value)}
            onChange={() => onAnswer(isMultiple ? toggle(value) : value)}
          />{' '}
          {label}
        </label>
      ))}
    </fieldset>
  )
}

const optionsOf = (step: Step, kind: StepKind, { options }: ShownStep): ShownStep['options'] => {
  if (kind === 'choice' || kind === 'multiple-choice') return options
  if (kind === 'yes-no')
    return [
      { label: texts.preview.yes, value: 'yes' },
      { label: texts.preview.no, value: 'no' },
    ]
  if (kind !== 'rating') return []
  const max = Number('max' in step ? step.max : 5)
  const count = Number.isInteger(max) && max > 0 ? Math.min(max, mostStars) : 5
  return Array.from({ length: count }, (_, index) => String(index + 1)).map((value) => ({
    label: value,
    value,
  }))
}
