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

/** A line on stderr for each step; nothing with `--json`. */
const printSteps = (command: Command): ((step: MigrationStep) => void) | undefined =>
  command.wantsJson
    ? undefined
    : ({ store, title, number, of }) =>
        command.terminal.printError(`The ${store} store, step ${number} of ${of}: ${title}\n`)
