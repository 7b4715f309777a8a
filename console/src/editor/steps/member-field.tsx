import type { JsonValue } from '@fms/client'
import type { StepMember } from '@fms/contracts/steps'
import { CheckField, LinesField, NumberField, TextField } from '../../elements/field.tsx'
import type { RemarksAbout } from '../../elements/remark-texts.tsx'
import { asList, asObject, asText } from '../../json/values.ts'
import { texts } from '../../texts.ts'
import { BackgroundField } from './background-field.tsx'
import { labelOf, withLabels } from './option-lines.ts'

/** The texts of the console about members, by name. */
const labels: Readonly<Record<string, string>> = texts.step.members
const hints: Readonly<Record<string, string>> = texts.step.hints

export const MemberField = ({
  name,
  member: { kind, minimum, maximum },
  value,
  disabled,
  onChange,
  ...remarks
}: RemarksAbout<string> & {
  name: string
  member: StepMember
  value: JsonValue | undefined
  disabled: boolean
  /** @param value undefined removes the member */
  onChange: (value: JsonValue | undefined) => void
}) => {
  const field = { label: labels[name] ?? name, hint: hints[name], disabled, ...remarks }
  if (kind === 'flag')
    return <CheckField {...field} value={value === true} onInput={(isChosen) => onChange(isChosen)} />
  if (kind === 'integer' || kind === 'number')
    return (
      <NumberField
        {...field}
        value={value as number | undefined}
        min={minimum}
        max={maximum}
        step={kind === 'integer' ? 1 : 'any'}
        onInput={onChange}
      />
    )
  if (kind === 'options' || kind === 'texts') {
    const items = asList(value)
    return (
      <LinesField
        {...field}
        rows={Math.max(3, items.length)}
        value={items.map(labelOf).join('\n')}
        onInput={(text) => onChange(withLabels(items, text.split('\n')))}
      />
    )
  }
  if (kind === 'background')
    return (
      <BackgroundField background={asObject(value)} disabled={disabled} onChange={onChange} {...remarks} />
    )
  if (name === 'description')
    return <LinesField {...field} rows={2} value={asText(value)} onInput={onChange} />
  // A title may be empty while somebody types; other members are there only with a text.
  const change = (text: string) => onChange(text === '' && name !== 'title' ? undefined : text)
  const type = kind === 'date' || kind === 'time' ? kind : 'text'
  return <TextField {...field} type={type} value={asText(value)} part={name} onInput={change} />
}
