import { FormChanges } from '@fms/contracts'
import type { Command } from 'commander'
import { withApi } from '../../api/with-api.ts'
import { addExamples, exampleForm } from '../../cli/examples.ts'
import { changesOutcome } from './changes-outcome.ts'
import { addFormOptions, type FormOptions, formPathOf } from './form-options.ts'

interface ChangesOptions extends FormOptions {
  from: string
  to: string
}

export const addChangesCommand = (forms: Command): void => {
  const command = addFormOptions(forms.command('changes'))
    .description('compare two states of a form through the API; by default, show what a publish would change')
    .option('--from <ref>', 'id of a revision, live or latest', 'live')
    .option('--to <ref>', 'id of a revision, live, latest or draft', 'draft')
    .action(
      withApi<ChangesOptions>(async (api, options) => {
        const query = new URLSearchParams({ from: options.from, to: options.to })
        return changesOutcome(await api.send(FormChanges, 'GET', `${formPathOf(options)}/changes?${query}`))
      }),
    )
  const example = `forms changes --organization acme --form ${exampleForm}`
  addExamples(command, example, `${example} --from latest --to live --json`)
}
