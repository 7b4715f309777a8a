import { Form } from '@fms/contracts'
import type { Command } from 'commander'
import { formOutcome } from '../../api/form-outcome.ts'
import { addChangeOptions, type ChangeOptions, sendChange } from '../../api/send-change.ts'
import { withApi } from '../../api/with-api.ts'
import { addExamples, exampleForm } from '../../cli/examples.ts'
import { addFormOptions, type FormOptions, formPathOf } from './form-options.ts'

interface PublishOptions extends FormOptions, ChangeOptions {
  note?: string
  refuseBreaking?: boolean
}

export const addPublishCommand = (forms: Command): void => {
  const command = addFormOptions(forms.command('publish'))
    .description('publish the draft of a form through the API')
    .option('--note <text>', 'what the publish changes, or why; at most 500 characters')
    .option('--refuse-breaking', 'publish nothing if a change orphans answers already given')
    .action(
      withApi<PublishOptions>(async (api, options) => {
        const { note, refuseBreaking, validateOnly } = options
        const path = `${formPathOf(options)}/publish`
        const sent = await sendChange(
          api,
          Form,
          { method: 'POST', path, body: { note, refuseBreaking } },
          options,
        )
        return formOutcome({ past: 'Published', infinitive: 'publish' }, sent, validateOnly)
      }),
    )
  addChangeOptions(command)
  const example = `forms publish --organization acme --form ${exampleForm}`
  addExamples(command, `${example} --validate-only`, `${example} --note 'New prices' --refuse-breaking`)
}
