import { Form } from '@fms/contracts'
import type { Command } from 'commander'
import { formOutcome } from '../../api/form-outcome.ts'
import { addChangeOptions, type ChangeOptions, sendChange } from '../../api/send-change.ts'
import { withApi } from '../../api/with-api.ts'
import { addExamples, exampleForm } from '../../cli/examples.ts'
import { addFormOptions, type FormOptions, formPathOf } from './form-options.ts'

interface RollbackOptions extends FormOptions, ChangeOptions {
  revision: string
}

export const addRollbackCommand = (forms: Command): void => {
  const command = addFormOptions(forms.command('rollback'))
    .description('make the draft of a form equal to a revision, through the API; nothing is published')
    .requiredOption('--revision <ref>', 'id of a revision, live or latest')
    .action(
      withApi<RollbackOptions>(async (api, options) => {
        const { revision, validateOnly } = options
        const path = `${formPathOf(options)}/revisions/${encodeURIComponent(revision)}/rollback`
        const sent = await sendChange(api, Form, { method: 'POST', path }, options)
        return formOutcome({ past: 'Rolled back', infinitive: 'roll back' }, sent, validateOnly)
      }),
    )
  addChangeOptions(command)
  const example = `forms rollback --organization acme --form ${exampleForm} --revision live`
  addExamples(command, example, `${example} --validate-only`)
}
