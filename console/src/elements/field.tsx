import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useRef } from 'preact/hooks'
import { type RemarksAbout, RemarkTexts } from './remark-texts.tsx'

interface LabelProps extends Partial<RemarksAbout<string>> {
  label: string
  hint?: string
}

interface FieldProps<V> extends LabelProps {
  value: V
  onInput: (value: V) => void
  disabled?: boolean
}

/** The value of a field that is kept in a signal. */
export const keptIn = <V,>(signal: Signal<V>): Pick<FieldProps<V>, 'value' | 'onInput'> => ({
  value: signal.value,
  onInput: (value) => {
    signal.value = value
  },
})

/** Attributes that tie an input to its label, hint and remarks. */
interface InputAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
}

/** A label, an input, a hint and the remarks about the value. */
export const Field = ({
  label,
  hint,
  violations = [],
  warnings = [],
  children,
}: LabelProps & { children: (attributes: InputAttributes) => ComponentChildren }) => {
  const id = useId()
  const describedBy = hint || violations.length + warnings.length > 0 ? `${id}-about` : undefined
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': describedBy,
        'aria-invalid': violations.length > 0 || undefined,
      })}
      {describedBy && (
        <div id={describedBy} class="small">
          {hint}
          <RemarkTexts violations={violations} warnings={warnings} />
        </div>
      )}
    </div>
  )
}

export const TextField = ({
  value,
  onInput,
  disabled,
  type = 'text',
  list,
  part,
  ...field
}: FieldProps<string> & {
  type?: 'text' | 'search' | 'date' | 'time'
  /** Id of a datalist with suggestions. */
  list?: string
  /** Names the input to whoever moves the focus to it. */
  part?: string
}) => (
  <Field {...field}>
    {(attributes) => (
      <input
        {...attributes}
        type={type}
        list={list}
        data-part={part}
        value={value}
        disabled={disabled}
        autocomplete="off"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

export const LinesField = ({
  value,
  onInput,
  disabled,
  rows = 3,
  ...field
}: FieldProps<string> & { rows?: number }) => (
  <Field {...field}>
    {(attributes) => (
      <textarea
        {...attributes}
        rows={rows}
        value={value}
        disabled={disabled}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

/** A field for a number, or none. */
export const NumberField = ({
  value,
  onInput,
  disabled,
  min,
  max,
  step,
  ...field
}: FieldProps<number | undefined> & {
  min?: number | undefined
  max?: number | undefined
  step?: number | 'any'
}) => {
  const input = useRef<HTMLInputElement>(null)
  const typed = input.current?.value
  // "12." and "12.0" are 12, and stay as they are typed.
  const shown = typed && Number(typed) === value ? typed : String(value ?? '')
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          {...attributes}
          ref={input}
          type="number"
          value={shown}
          min={min}
          max={max}
          step={step}
          disabled={disabled}
          onInput={({ currentTarget }) =>
            onInput(currentTarget.value === '' ? undefined : Number(currentTarget.value))
          }
        />
      )}
    </Field>
  )
}

export const CheckField = ({ label, hint, value, onInput, disabled, ...remarks }: FieldProps<boolean>) => (
  <div class="field">
    <label>
      <input
        type="checkbox"
        checked={value}
        disabled={disabled}
        onChange={({ currentTarget }) => onInput(currentTarget.checked)}
      />{' '}
      {label}
    </label>
    <div class="small">
      {hint}
      <RemarkTexts {...remarks} />
    </div>
  </div>
)

export const SelectField = <V extends string>({
  value,
  options,
  labels,
  onInput,
  disabled,
  ...field
}: FieldProps<V> & {
  options: readonly V[]
  /** What the options are called; by default as their values. */
  labels?: Readonly<Record<V, string>>
}) => (
  <Field {...field}>
    {(attributes) => (
      <select
        {...attributes}
        value={value}
        disabled={disabled}
        onInput={({ currentTarget }) => onInput(currentTarget.value as V)}
      >
        {options.map((option) => (
          <option key={option} value={option}>
            {labels?.[option] ?? option}
          </option>
        ))}
      </select>
    )}
  </Field>
)
