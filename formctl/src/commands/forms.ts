import { type Command, InvalidArgumentError } from 'commander'
import { withExamples } from '../examples.ts'
import { exportForms, writingFile } from '../forms/export-forms.ts'
import { openDirectory, openForms } from '../open-stores.ts'
import { printOutcome } from '../outcome.ts'
import { theOrganization } from '../references.ts'
import { terminalOf } from '../terminal.ts'

export const addFormsCommands = (formctl: Command): void => {
  const forms = formctl
    .command('forms')
    .description('forms with their revisions and counts, out and in again')
  addExportCommand(forms)
  addImportCommand(forms)
}

interface ExportOptions {
  organization?: string
  out?: string
}

const addExportCommand = (forms: Command): void => {
  const command = forms
    .command('export')
    .description('write forms as NDJSON, one a line: draft, revisions, ids, times and counts')
    .option('--organization <ref>', 'id or slug; without it, the forms of all organizations')
    .option('--out <file>', 'a new file; without it, stdout')
    .action(async function (this: Command) {
      const { organization, out } = this.opts<ExportOptions>()
      const organizationId = await organizationIdOf(organization)
      await using store = await openForms()
      const source = { store, ...(organizationId && { organizationId }) }
      if (out === undefined) {
        await exportForms(this, source, terminalOf(this).print)
        return
      }
      const count = await writingFile(out, (write) => exportForms(this, source, write))
      printOutcome(this, { json: { forms: count, file: out }, text: `Exported ${count} forms to ${out}.` })
    })
  withExamples(command, 'forms export --organization acme', 'forms export --out "$DATA_DIR/forms.ndjson"')
}

interface ImportCommandOptions {
  organization?: string
  asNew?: boolean
  dryRun?: boolean
  fromLine?: number
}

const addImportCommand = (forms: Command): void => {
  const command = forms
    .command('import')
    .description('read forms that `forms export` wrote: as they were, or as new ones')
    .argument('<file>', 'NDJSON; nothing is imported unless all of its lines are sound')
    .option('--organization <ref>', 'id or slug of where the forms go; without it, where they came from')
    .option('--as-new', 'give them fresh ids, times and counts; their revisions come along')
    .option('--dry-run', 'store nothing, and tell what would be done')
    .option('--from-line <number>', 'leave out the lines before', parseLineNumber)
    .action(async function (this: Command, file: string) {
      const { organization, ...options } = this.opts<ImportCommandOptions>()
      const organizationId = await organizationIdOf(organization)
      await using store = await openForms()
      const { importForms } = await import('../forms/import-forms.ts')
      const done = await importForms(this, store, file, {
        ...options,
        ...(organizationId && { organizationId }),
      })
      const would = options.dryRun ? 'Would import' : 'Imported'
      printOutcome(this, {
        json: done,
        text: `${would} ${done.imported} forms; ${done.existing} were there already.`,
      })
    })
  withExamples(
    command,
    'forms import "$DATA_DIR/forms.ndjson" --dry-run',
    'forms import "$DATA_DIR/forms.ndjson" --organization acme --as-new',
  )
}

const parseLineNumber = (text: string): number => {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be 1 or more.')
  return number
}

const organizationIdOf = async (ref: string | undefined): Promise<string | undefined> => {
  if (ref === undefined) return undefined
  await using directory = await openDirectory()
  return (await theOrganization(directory, ref)).organizationId
}
