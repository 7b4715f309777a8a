import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  hint?: string
  /** Descriptions of what the service finds wrong with the value. */
  violations?: readonly string[]
}

/** Attributes that tie an input to its label, hint and violations. */
interface InputAttributes {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': boolean | undefined
}

/** A label, an input, a hint and the violations of the value. */
export const Field = ({
  label,
  hint,
  violations = [],
  children,
}: FieldProps & { children: (attributes: InputAttributes) => ComponentChildren }) => {
  const id = useId()
  const describedBy = hint || violations.length > 0 ? `${id}-about` : undefined
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
          {violations.map((violation) => (
            <div key={violation} class="violation">
              {violation}
            </div>
          ))}
        </div>
      )}
    </div>
  )
}

/** A field for one line of text. */
export const TextField = ({
  value,
  onInput,
  disabled,
  type = 'text',
  list,
  ...field
}: FieldProps & {
  value: string
  onInput: (value: string) => void
  disabled?: boolean
  type?: 'text' | 'search' | 'number'
  /** Id of a datalist with suggestions. */
  list?: string
}) => (
  <Field {...field}>
    {(attributes) => (
      <input
        {...attributes}
        type={type}
        list={list}
        value={value}
        disabled={disabled}
        autocomplete="off"
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    )}
  </Field>
)

/** A field for lines of text. */
export const LinesField = ({
  value,
  onInput,
  disabled,
  rows = 3,
  onDone,
  ...field
}: FieldProps & {
  value: string
  onInput: (value: string) => void
  disabled?: boolean
  rows?: number
  /** Called when the focus leaves the field, and before Ctrl-S or Cmd-S saves the form. */
  onDone?: () => void
}) => (
  <Field {...field}>
    {(attributes) => (
      <textarea
        {...attributes}
        rows={rows}
        value={value}
        disabled={disabled}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
        onBlur={({ currentTarget }) => currentTarget.isConnected && onDone?.()}
        onKeyDown={({ ctrlKey, metaKey, key }) => (ctrlKey || metaKey) && key === 's' && onDone?.()}
      />
    )}
  </Field>
)

/** A field for one of some values. */
export const SelectField = <V extends string>({
  value,
  options,
  labels,
  onInput,
  disabled,
  ...field
}: FieldProps & {
  value: V
  options: readonly V[]
  /** What the options are called; by default as their values. */
  labels?: Readonly<Record<V, string>>
  onInput: (value: V) => void
  disabled?: boolean
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
