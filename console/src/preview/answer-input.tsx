import type { Step } from '@fms/client'
import { asText } from '../json/values.ts'
import { texts } from '../texts.ts'
import type { Answer } from './next-step.ts'
import type { ShownStep } from './shown-step.ts'
import type { StepKind } from './step-kind.ts'

/** Most values of a rating or a scale that are drawn. */
const maxShownValues = 41

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
        {...limitsOf(step)}
        rows={4}
        value={text}
        onInput={({ currentTarget }) => onAnswer(currentTarget.value)}
      />
    )
  if (kind === 'payment') return <p>{priceOf(step)}</p>
  if (kind === 'file') return <input type="file" aria-label={label} disabled />
  if (kind === 'ranking')
    return (
      <ol>
        {shown.options.map((option) => (
          <li key={option.value}>{option.label}</li>
        ))}
      </ol>
    )
  const attributes = {
    'aria-label': label,
    ...limitsOf(step),
    value: text,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onAnswer(currentTarget.value),
  }
  if (kind === 'text') return <input type="text" {...attributes} />
  if (kind === 'number') return <input type="number" {...attributes} />
  if (kind === 'email') return <input type="email" {...attributes} />
  if (kind === 'date') return <input type="date" {...attributes} />
  if (kind === 'time') return <input type="time" {...attributes} />
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
      { label: labelAt(step, 0, 2) || texts.preview.yes, value: 'yes' },
      { label: labelAt(step, 1, 2) || texts.preview.no, value: 'no' },
    ]
  if (kind !== 'rating' && kind !== 'scale') return []
  const values = kind === 'rating' ? valuesOf(step, 1, 5) : valuesOf(step, 0, 10)
  return values.map((value, index) => {
    const name = labelAt(step, index, values.length)
    return { label: name ? `${value} ${name}` : String(value), value: String(value) }
  })
}

/** A step is JSON: a member may have any value. */
const memberOfStep = (step: Step, name: string): unknown => (step as unknown as Record<string, unknown>)[name]

const integerOf = (step: Step, name: string, otherwise: number): number => {
  const value = memberOfStep(step, name)
  return Number.isInteger(value) ? (value as number) : otherwise
}

const valuesOf = (step: Step, defaultMin: number, defaultMax: number): number[] => {
  const min = integerOf(step, 'min', defaultMin)
  const max = integerOf(step, 'max', defaultMax)
  const width = Math.max(1, integerOf(step, 'step', 1))
  const count = Math.min(Math.floor((max - min) / width) + 1, maxShownValues)
  return Array.from({ length: Math.max(count, 1) }, (_, index) => min + index * width)
}

/** The label of a value: there is one for each, or two for the lowest and the highest. */
const labelAt = (step: Step, index: number, count: number): string => {
  const labels = memberOfStep(step, 'labels')
  if (!Array.isArray(labels)) return ''
  if (labels.length === count) return asText(labels[index])
  if (labels.length !== 2) return ''
  return asText(index === 0 ? labels[0] : index === count - 1 && labels[1])
}

const priceOf = (step: Step): string => {
  const amount = memberOfStep(step, 'amount')
  return typeof amount === 'number'
    ? `${amount} ${asText(memberOfStep(step, 'currency'))}`
    : texts.preview.noPrice
}

/** The attributes of an input, as HTML names them, too. Values of another kind count as absent. */
const limitsOf = (step: Step) => {
  const pick = <V,>(names: readonly string[], kinds: readonly string[], as: (value: unknown) => V) =>
    Object.fromEntries(
      names
        .map((name) => [name, memberOfStep(step, name)] as const)
        .filter(([, value]) => kinds.includes(typeof value))
        .map(([name, value]) => [name, as(value)]),
    )
  return {
    ...pick(['placeholder', 'min', 'max', 'step', 'pattern'], ['string', 'number'], String),
    ...pick(['minLength', 'maxLength'], ['number'], Number),
  }
}
