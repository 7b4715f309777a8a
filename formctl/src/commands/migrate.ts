import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import type { MigrationStep } from '@fms/store-kit'
import type { Command } from '../cli/command.ts'
import { printOutcome } from '../cli/outcome.ts'
import { namedStores, withStoreName } from '../stores/open-stores.ts'

export const addMigrateCommand = (formctl: Command): void => {
  formctl
    .command('migrate')
    .description('migrate both stores to this release: tables and indexes; can be repeated')
    .action(async function (this: Command) {
      const { directory, forms } = namedStores(process.env)
      const onStep = printSteps(this)
      const stores = {
        directory: await withStoreName(directory, () => migrateDirectoryStore(directory.url, onStep)),
        forms: await withStoreName(forms, () => migrateFormsStore(forms.url, onStep)),
      }
      const lines = Object.entries(stores).map(
        ([store, { engine, version }]) =>
          `The ${store} store on ${engine} has version ${version} of its schema.`,
      )
      printOutcome(this, { json: stores, text: lines.join('\n') })
    })
    .examples('migrate', 'migrate --json')
}

/** Documents between two lines. */
const changesPerLine = 10_000

/** A line on stderr for each step, and after each 10,000 documents; nothing with `--json`. */
const printSteps = (command: Command): ((step: MigrationStep) => void) | undefined => {
  if (command.wantsJson) return undefined
  let printed = 0
  return ({ store, title, number, of, changed }) => {
    if (changed === 0) printed = 0
    if (changed > 0 && changed - printed < changesPerLine) return
    printed = changed
    const documents = changed > 0 ? `, ${changed} documents` : ''
    command.terminal.printError(`The ${store} store, step ${number} of ${of}: ${title}${documents}\n`)
  }
}
