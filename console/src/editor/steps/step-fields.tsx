import type { JsonValue } from '@fms/client'
import { stepTypes } from '@fms/contracts/steps'
import { SelectField, TextField } from '../../elements/field.tsx'
import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import { RemarkList } from '../remark-list.tsx'
import { type Remarks, remarksAt, remarksElsewhere } from '../remarks.ts'
import { BranchesField } from './branches-field.tsx'
import { MemberField } from './member-field.tsx'
import { isRare, membersWithField } from './step-members.ts'

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

export const StepFields = ({
  step,
  steps,
  field,
  remarks,
  disabled,
  onTitle,
  onChange,
}: {
  step: JsonObject
  /** All steps of the form. */
  steps: readonly JsonValue[]
  /** The path of the step, such as `form.steps[2]`. */
  field: string
  remarks: Remarks
  disabled: boolean
  onTitle: (title: string) => void
  onChange: (step: JsonObject) => void
}) => {
  const at = (name: string) => remarksAt(remarks, `${field}.${name}`)
  const set = (name: string, value: JsonValue | undefined) => {
    if (name === 'title') return onTitle(asText(value))
    const { [name]: _, ...others } = step
    const next = value === undefined ? others : { ...step, [name]: value }
    onChange(name === 'type' && value === 'start' ? asStart(next) : next)
  }
  const type = asText(step.type)
  const members = membersWithField(step)
  const shown = ['type', 'key', ...members.map(([name]) => name)]
  const withRemarks = shown.filter((name) => name !== 'branches')
  const others = Object.keys(step).filter((name) => !shown.includes(name))
  const types = typeNames.includes(type) ? typeNames : [...typeNames, type]
  const fields = members.filter(([name]) => name !== 'branches')
  const fieldOf = ([name, member]: (typeof fields)[number]) => (
    <MemberField
      key={name}
      name={name}
      member={member}
      value={step[name]}
      {...at(name)}
      disabled={disabled}
      onChange={(value) => set(name, value)}
    />
  )
  const rare = fields.filter(([name]) => isRare(step, name))
  return (
    <div class="step-fields">
      <div class="member-fields">
        {fields.filter(([name]) => !isRare(step, name)).map(fieldOf)}
        <SelectField
          label={texts.step.type}
          value={type}
          options={types}
          labels={Object.fromEntries(types.map((each) => [each, typeName(each)]))}
          {...at('type')}
          disabled={disabled}
          onInput={(next) => set('type', next)}
        />
        <TextField
          label={texts.step.key}
          hint={texts.step.keyHint}
          value={asText(step.key)}
          {...at('key')}
          disabled={disabled}
          onInput={(key) => set('key', key)}
        />
      </div>
      {rare.length > 0 && (
        <details>
          <summary>{texts.step.more}</summary>
          <div class="member-fields">{rare.map(fieldOf)}</div>
        </details>
      )}
      {shown.includes('branches') && (
        <BranchesField
          step={step}
          steps={steps}
          disabled={disabled}
          onChange={(branches) => set('branches', branches)}
        />
      )}
      <RemarkList remarks={remarksElsewhere(remarks, field, withRemarks)} steps={steps} />
      {others.length > 0 && <p class="small">{texts.step.others(others.join(', '))}</p>}
    </div>
  )
}
