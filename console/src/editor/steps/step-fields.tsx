import type { FieldViolation, JsonValue } from '@fms/client'
import { stepTypes } from '@fms/contracts/steps'
import { SelectField, TextField } from '../../elements/field.tsx'
import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import { ViolationList } from '../violation-list.tsx'
import { violationsAt, violationsElsewhere } from '../violations.ts'
import { BranchesField } from './branches-field.tsx'
import { MemberField } from './member-field.tsx'
import { membersWithField } from './step-members.ts'

/** The name of a type for people, such as `Long text`. */
export const typeName = (type: string): string =>
  (type.charAt(0).toUpperCase() + type.slice(1)).replaceAll('-', ' ')

const typeNames = Object.keys(stepTypes)

/** The first screen has no other members. */
const asStart = (step: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(step).filter(
      ([name]) => ['type', 'key'].includes(name) || name in stepTypes.start!.members,
    ),
  )

/** The fields of one step. */
export const StepFields = ({
  step,
  steps,
  field,
  violations,
  disabled,
  onTitle,
  onChange,
}: {
  step: JsonObject
  /** All steps of the form. */
  steps: readonly JsonValue[]
  /** The path of the step, such as `form.steps[2]`. */
  field: string
  violations: readonly FieldViolation[]
  disabled: boolean
  onTitle: (title: string) => void
  onChange: (step: JsonObject) => void
}) => {
  const at = (name: string) => violationsAt(violations, `${field}.${name}`)
  const set = (name: string, value: JsonValue | undefined) => {
    if (name === 'title') return onTitle(asText(value))
    const { [name]: _, ...others } = step
    const next = value === undefined ? others : { ...step, [name]: value }
    onChange(name === 'type' && value === 'start' ? asStart(next) : next)
  }
  const type = asText(step.type)
  const members = membersWithField(step)
  const shown = ['type', 'key', ...members.map(([name]) => name)]
  const others = Object.keys(step).filter((name) => !shown.includes(name))
  const types = typeNames.includes(type) ? typeNames : [...typeNames, type]
  const fields = members.filter(([name]) => name !== 'branches')
  return (
    <div class="step-fields">
      <div class="member-fields">
        {fields.map(([name, member]) => (
          <MemberField
            key={name}
            name={name}
            member={member}
            value={step[name]}
            violations={at(name)}
            disabled={disabled}
            onChange={(value) => set(name, value)}
          />
        ))}
        <SelectField
          label={texts.step.type}
          value={type}
          options={types}
          labels={Object.fromEntries(types.map((each) => [each, typeName(each)]))}
          violations={at('type')}
          disabled={disabled}
          onInput={(next) => set('type', next)}
        />
        <TextField
          label={texts.step.key}
          hint={texts.step.keyHint}
          value={asText(step.key)}
          violations={at('key')}
          disabled={disabled}
          onInput={(key) => set('key', key)}
        />
      </div>
      {shown.includes('branches') && (
        <BranchesField
          step={step}
          steps={steps}
          disabled={disabled}
          onChange={(branches) => set('branches', branches)}
        />
      )}
      <ViolationList violations={violationsElsewhere(violations, field, shown)} />
      {others.length > 0 && <p class="small">{texts.step.others(others.join(', '))}</p>}
    </div>
  )
}
