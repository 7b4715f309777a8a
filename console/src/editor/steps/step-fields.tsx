import type { FieldViolation } from '@fms/client'
import { LinesField, TextField } from '../../elements/field.tsx'
import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import { ViolationList } from '../violation-list.tsx'
import { violationsAt, violationsElsewhere } from '../violations.ts'
import { stepTypes } from './new-step.ts'

const oneLine = ['key', 'title', 'buttonText', 'logoUrl', 'redirectUrl'] as const

/** The members of a step that can have a field here. */
const withField: ReadonlySet<string> = new Set(['type', ...oneLine, 'description', 'options'])

/** The fields of one step. */
export const StepFields = ({
  step,
  field,
  violations,
  disabled,
  onChange,
}: {
  step: JsonObject
  /** The path of the step, such as `form.steps[2]`. */
  field: string
  violations: readonly FieldViolation[]
  disabled: boolean
  onChange: (step: JsonObject) => void
}) => {
  const at = (name: string) => violationsAt(violations, `${field}.${name}`)
  const options = isTexts(step.options) ? step.options : undefined
  const dropEmptyLines = () => {
    const kept = options?.slice(0, options.findLastIndex((option) => option.trim() !== '') + 1) ?? []
    if (options && kept.length < options.length) set('options', kept)
  }
  const set = (name: string, value: string | string[]) => onChange({ ...step, [name]: value })
  const hasField = (name: string) =>
    name === 'buttonText' || name in step || ['start', 'end'].includes(asText(step.type))
  // Options that are no texts are edited as JSON.
  const shown = [...withField].filter((name) => name !== 'options' || options !== undefined)
  const others = Object.keys(step).filter((name) => !shown.includes(name))
  const elsewhere = violationsElsewhere(violations, field, shown)
  return (
    <div class="step-fields">
      <TextField
        label={texts.step.type}
        list="step-types"
        value={asText(step.type)}
        violations={at('type')}
        disabled={disabled}
        onInput={(type) => set('type', type)}
      />
      <datalist id="step-types">
        {stepTypes.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      {oneLine.slice(0, 2).map((name) => (
        <TextField
          key={name}
          label={texts.step[name]}
          hint={name === 'key' ? texts.step.keyHint : undefined}
          value={asText(step[name])}
          violations={at(name)}
          disabled={disabled}
          onInput={(value) => set(name, value)}
        />
      ))}
      <LinesField
        label={texts.step.description}
        rows={2}
        value={asText(step.description)}
        violations={at('description')}
        disabled={disabled}
        onInput={(description) => set('description', description)}
      />
      {options && (
        <LinesField
          label={texts.step.options}
          hint={texts.step.optionsHint}
          rows={Math.max(3, options.length)}
          value={options.join('\n')}
          violations={at('options')}
          disabled={disabled}
          onInput={(lines) => set('options', lines.split('\n'))}
          onDone={dropEmptyLines}
        />
      )}
      {oneLine
        .slice(2)
        .filter(hasField)
        .map((name) => (
          <TextField
            key={name}
            label={texts.step[name]}
            value={asText(step[name])}
            violations={at(name)}
            disabled={disabled}
            onInput={(value) => set(name, value)}
          />
        ))}
      <ViolationList violations={elsewhere} />
      {others.length > 0 && <p class="small">{texts.step.others(others.join(', '))}</p>}
    </div>
  )
}

const isTexts = (options: unknown): options is string[] =>
  Array.isArray(options) && options.every((option) => typeof option === 'string')
