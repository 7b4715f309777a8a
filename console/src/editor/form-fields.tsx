import type { FormType } from '@fms/client'
import type { Signal } from '@preact/signals'
import { LinesField, SelectField, TextField } from '../elements/field.tsx'
import { asObject, asText } from '../json/values.ts'
import { texts } from '../texts.ts'
import { formTypes } from './edits/fields-of-form.ts'
import type { FormEdit } from './edits/form-edit.ts'
import { Steps } from './steps/steps.tsx'
import { ThemeFields } from './theme-fields.tsx'
import { Translations } from './translations/translations.tsx'
import { ViolationTexts } from './violation-list.tsx'
import { violationsAt } from './violations.ts'

const modes = ['guided', 'conversational', 'voice'] as const

/** What people edit most, as fields. The rest is in the JSON. */
export const FormFields = ({
  edit,
  openStep,
  isReadOnly,
}: {
  edit: FormEdit
  /** The index of the step whose fields are shown. */
  openStep: Signal<number | undefined>
  isReadOnly: boolean
}) => {
  const fields = edit.fields.value
  const at = (field: string) => violationsAt(edit.violations.value, field)
  const disabled = isReadOnly || !edit.isValid.value
  const labels = texts.fields
  return (
    <div class="form-fields">
      {/* Of the form as a whole, such as of its size. */}
      <ViolationTexts texts={at('form')} />
      <TextField
        label={labels.name}
        value={asText(fields.name)}
        violations={at('form.name')}
        disabled={disabled}
        onInput={(name) => edit.change({ name })}
      />
      <LinesField
        label={labels.description}
        value={asText(fields.description)}
        violations={at('form.description')}
        disabled={disabled}
        onInput={(description) => edit.change({ description })}
      />
      <div class="row">
        <SelectField
          label={labels.type}
          hint={texts.fields.typeHint}
          value={asText(fields.type) as FormType}
          options={formTypes}
          labels={texts.types}
          violations={at('form.type')}
          disabled
          onInput={() => {}}
        />
        <SelectField
          label={labels.defaultMode}
          value={asText(fields.defaultMode) as (typeof modes)[number]}
          options={modes}
          labels={texts.modes}
          violations={at('form.defaultMode')}
          disabled={disabled}
          onInput={(defaultMode) => edit.change({ defaultMode })}
        />
        <TextField
          label={labels.tone}
          value={asText(fields.tone)}
          violations={at('form.tone')}
          disabled={disabled}
          onInput={(tone) => edit.change({ tone })}
        />
      </div>
      <Steps edit={edit} openStep={openStep} disabled={disabled} />
      <Translations edit={edit} disabled={disabled} />
      <ThemeFields
        theme={asObject(fields.theme)}
        violations={edit.violations.value}
        disabled={disabled}
        onChange={(theme) => edit.change({ theme })}
      />
    </div>
  )
}
