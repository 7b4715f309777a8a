import { Form } from '@fms/contracts'
import type { Command } from 'commander'
import { formOutcome } from '../../api/form-outcome.ts'
import { addChangeOptions, type ChangeOptions, sendChange } from '../../api/send-change.ts'
import { withApi } from '../../api/with-api.ts'
import { addExamples, exampleForm } from '../../cli/examples.ts'
import { addFormOptions, type FormOptions, formPathOf } from './form-options.ts'

interface UnpublishOptions extends FormOptions, ChangeOptions {
  note?: string
}

export const addUnpublishCommand = (forms: Command): void => {
  const command = addFormOptions(forms.command('unpublish'))
    .description('take a form down through the API; its draft and revisions stay')
    .option('--note <text>', 'why the form is taken down; at most 500 characters')
    .action(
      withApi<UnpublishOptions>(async (api, options) => {
        const { note, validateOnly } = options
        const path = `${formPathOf(options)}/unpublish`
        const sent = await sendChange(api, Form, { method: 'POST', path, body: { note } }, options)
        return formOutcome({ past: 'Unpublished', infinitive: 'unpublish' }, sent, validateOnly)
      }),
    )
  addChangeOptions(command)
  const example = `forms unpublish --organization acme --form ${exampleForm}`
  addExamples(command, example, `${example} --note 'A question is missing'`)
}
