import type { Step } from '@fms/client'
import { useSignal } from '@preact/signals'
import { asText } from '../json/values.ts'
import { texts } from '../texts.ts'
import { choicesOf, memberOfStep } from './choices.ts'
import type { Answer } from './next-step.ts'
import type { ShownStep } from './shown-step.ts'
import type { StepKind } from './step-kind.ts'

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
  /** The index of the option that was chosen last: others may be the same answer. */
  const last = useSignal(-1)
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
        {shown.options.map((option, index) => (
          <li key={index}>{option.label}</li>
        ))}
      </ol>
    )
  const attributes = {
    'aria-label': label,
    ...limitsOf(step),
    value: text,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement }) => onAnswer(currentTarget.value),
  }
  if (kind === 'text' && step.type === 'url') return <input type="url" {...attributes} />
  if (kind === 'text' && step.type === 'phone') return <input type="tel" {...attributes} />
  if (kind === 'text') return <input type="text" {...attributes} />
  if (kind === 'number') return <input type="number" step="any" {...attributes} />
  if (kind === 'email') return <input type="email" {...attributes} />
  if (kind === 'date') return <input type="date" {...attributes} />
  if (kind === 'time') return <input type="time" {...attributes} />
  const options = choicesOf(step, shown.options)
  if (options.length === 0) return null
  const isMultiple = kind === 'multiple-choice'
  const chosen = typeof answer === 'string' ? [answer] : (answer ?? [])
  const isChecked = (value: string, index: number) =>
    chosen.includes(value) &&
    (isMultiple ||
      index ===
        (options[last.value]?.value === value
          ? last.value
          : options.findIndex((each) => each.value === value)))
  const toggle = (value: string) =>
    chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value]
  return (
    <fieldset class="options">
      <legend class="hidden">{label}</legend>
      {options.map(({ label, value }, index) => (
        <label key={index}>
          <input
            type={isMultiple ? 'checkbox' : 'radio'}
            name={step.key}
            checked={isChecked(value, index)}
            onChange={() => {
              last.value = index
              onAnswer(isMultiple ? toggle(value) : value)
            }}
          />{' '}
          {label}
        </label>
      ))}
    </fieldset>
  )
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
