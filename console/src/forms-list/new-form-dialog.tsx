import type { FormInput, FormType } from '@fms/client'
import { useSignal } from '@preact/signals'
import { formTypes, parseFields } from '../editor/edits/fields-of-form.ts'
import { useAction } from '../elements/action.ts'
import { Button } from '../elements/button.tsx'
import { Dialog } from '../elements/dialog.tsx'
import { ErrorNotice } from '../elements/error-notice.tsx'
import { Field, keptIn, SelectField, TextField } from '../elements/field.tsx'
import { Form } from '../elements/form.tsx'
import type { OrganizationProps } from '../elements/page.tsx'
import { goTo } from '../routing/navigation.ts'
import { texts } from '../texts.ts'
import { examples } from './examples.ts'

const blank = examples.find(({ id }) => id === 'blank')!

/** @returns undefined if the file cannot be read, or is no JSON object */
const formIn = async (file: File): Promise<FormInput | undefined> =>
  parseFields(await file.text().catch(() => '')) as FormInput | undefined

/** Creates a form: blank, from an example, or from a JSON file. */
export const NewFormDialog = ({
  client,
  organization,
  onClose,
}: OrganizationProps & { onClose: () => void }) => {
  const name = useSignal('')
  const example = useSignal<(typeof examples)[number]['id']>('blank')
  const type = useSignal<FormType>('structured')
  /** The content of the chosen file: undefined if it has no form. */
  const reading = useSignal<Promise<FormInput | undefined> | undefined>(undefined)
  /** The form of the file, once it is read. */
  const imported = useSignal<FormInput | undefined>(undefined)
  const { error, isRunning, run, clearError } = useAction()

  const readFile = async (chosen: File | undefined) => {
    const read = chosen && formIn(chosen)
    reading.value = read
    imported.value = undefined
    clearError()
    const fields = await read
    // Somebody may have chosen another file meanwhile.
    if (reading.peek() !== read) return
    imported.value = fields
    if (read && !fields) error.value = new Error(texts.newForm.noJson)
  }
  const create = () =>
    run(async () => {
      const read = reading.peek()
      const fromFile = await read
      if (read && !fromFile) throw new Error(texts.newForm.noJson)
      const source = fromFile ?? examples.find(({ id }) => id === example.value)!.form
      const isBlank = source === blank.form
      const fields = {
        ...source,
        ...(isBlank && { type: type.value }),
        ...(name.value.trim() !== '' && { name: name.value }),
      }
      const { form } = await client.forms.create(organization, fields)
      onClose()
      goTo({ page: 'edit', organization, form: form.publicId })
    })

  return (
    <Dialog title={texts.newForm.title} onClose={onClose}>
      <Form onInput={clearError} onSubmit={create}>
        <TextField label={texts.newForm.name} {...keptIn(name)} />
        <SelectField
          label={texts.newForm.from}
          {...keptIn(example)}
          options={examples.map(({ id }) => id)}
          labels={texts.newForm.examples}
          disabled={imported.value !== undefined}
        />
        {example.value === 'blank' && imported.value === undefined && (
          <SelectField
            label={texts.fields.type}
            hint={texts.newForm.typeHint}
            {...keptIn(type)}
            options={formTypes}
            labels={texts.types}
          />
        )}
        <Field label={texts.newForm.file} hint={texts.newForm.fileHint}>
          {(attributes) => (
            <input
              {...attributes}
              type="file"
              accept=".json,application/json"
              onChange={({ currentTarget }) => readFile(currentTarget.files?.[0])}
            />
          )}
        </Field>
        <ErrorNotice error={error.value} />
        <footer>
          <button type="submit" class="primary" aria-disabled={isRunning.value}>
            {texts.newForm.create}
          </button>
          <Button onClick={onClose}>{texts.cancel}</Button>
        </footer>
      </Form>
    </Dialog>
  )
}
