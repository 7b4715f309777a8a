import type { Command } from '../cli/command.ts'
import { parseWholeFrom } from '../cli/option-values.ts'
import { counted, printOutcome } from '../cli/outcome.ts'
import { exportForms, writeNewFile } from '../forms/export-forms.ts'
import type { ImportOptions, ImportResult } from '../forms/import-forms.ts'
import { findOptionalOrganizationId, openForms } from '../stores/open-stores.ts'
import { addFormLifeCommands } from './form-life.ts'

export const addFormsCommands = (formctl: Command): void => {
  const forms = formctl
    .command('forms')
    .description('export and import forms; check, compare, publish, unpublish and roll back a form')
  forms
    .command('export')
    .description('write forms as NDJSON, one per line: draft, revisions, ids, times and counts')
    .option('--organization <ref>', 'id or slug (default: all organizations)')
    .option('--out <file>', 'a new file (default: stdout)')
    .action(exportAction)
    .examples('forms export --organization acme', 'forms export --out "$DATA_DIR/forms.ndjson"')
  forms
    .command('import')
    .description('import the output of `forms export`: restore the forms, or create new ones')
    .argument('<file>', 'NDJSON; nothing is imported unless all lines are valid')
    .option('--organization <ref>', 'id or slug of the target (default: the organization of each form)')
    .option('--as-new', 'create new forms with fresh ids, times and counts, and the same revisions')
    .option('--dry-run', 'store nothing, and print what would be imported')
    .option('--from-line <number>', 'skip all earlier lines', parseWholeFrom(1))
    .action(importAction)
    .examples(
      'forms import "$DATA_DIR/forms.ndjson" --dry-run',
      'forms import "$DATA_DIR/forms.ndjson" --organization acme --as-new',
    )
  addFormLifeCommands(forms)
}

async function exportAction(this: Command) {
  const { organization, out } = this.opts<{ organization?: string; out?: string }>()
  const organizationId = await findOptionalOrganizationId(organization)
  await using store = await openForms()
  const source = { store, organizationId }
  if (out === undefined) {
    await exportForms(this, source, this.terminal.print)
    return
  }
  const count = await writeNewFile(out, (write) => exportForms(this, source, write))
  printOutcome(this, {
    json: { forms: count, file: out },
    text: `Exported ${counted(count, 'form')} to ${out}.`,
  })
}

interface ImportCommandOptions extends Omit<ImportOptions, 'organizationId'> {
  organization?: string
}

async function importAction(this: Command, file: string) {
  const { organization, ...options } = this.opts<ImportCommandOptions>()
  const organizationId = await findOptionalOrganizationId(organization)
  await using store = await openForms({ isCreated: !options.dryRun })
  const { importForms } = await import('../forms/import-forms.ts')
  const result = await importForms(this, store, file, { ...options, organizationId })
  printOutcome(this, { json: result, text: describeImport(result, options) })
}

const describeImport = ({ imported, existing, expired }: ImportResult, { dryRun }: ImportOptions): string => {
  const result = `${dryRun ? 'Would import' : 'Imported'} ${counted(imported, 'form')}; already there: ${existing}.`
  if (expired === 0) return result
  return `${result}\nSkipped ${counted(expired, 'deleted form')} with a purgeTime in the past, which cannot be restored.`
}
