import type { FormType } from '@fms/client'
import type { Signal } from '@preact/signals'
import { LinesField, SelectField, TextField } from '../elements/field.tsx'
import { RemarkTexts } from '../elements/remark-texts.tsx'
import { asObject, asText } from '../json/values.ts'
import { texts } from '../texts.ts'
import { formTypes } from './edits/fields-of-form.ts'
import type { FormEdit } from './edits/form-edit.ts'
import { remarksAt } from './remarks.ts'
import { Steps } from './steps/steps.tsx'
import { ThemeFields } from './theme-fields.tsx'
import { Translations } from './translations/translations.tsx'

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
  const at = (field: string) => remarksAt(edit.remarks.value, field)
  const disabled = isReadOnly || !edit.isValid.value
  const labels = texts.fields
  return (
    <div class="form-fields">
      {/* Of the form as a whole, such as of its size. */}
      <RemarkTexts {...at('form')} />
      <TextField
        label={labels.name}
        value={asText(fields.name)}
        {...at('form.name')}
        disabled={disabled}
        onInput={(name) => edit.change({ name })}
      />
      <LinesField
        label={labels.description}
        value={asText(fields.description)}
        {...at('form.description')}
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
          {...at('form.type')}
          disabled
          onInput={() => {}}
        />
        <SelectField
          label={labels.defaultMode}
          value={asText(fields.defaultMode) as (typeof modes)[number]}
          options={modes}
          labels={texts.modes}
          {...at('form.defaultMode')}
          disabled={disabled}
          onInput={(defaultMode) => edit.change({ defaultMode })}
        />
        <TextField
          label={labels.tone}
          value={asText(fields.tone)}
          {...at('form.tone')}
          disabled={disabled}
          onInput={(tone) => edit.change({ tone })}
        />
      </div>
      <Steps edit={edit} openStep={openStep} disabled={disabled} />
      <Translations edit={edit} disabled={disabled} />
      <ThemeFields
        theme={asObject(fields.theme)}
        remarks={edit.remarks.value}
        disabled={disabled}
        onChange={(theme) => edit.change({ theme })}
      />
    </div>
  )
}
