import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { withStoreName } from '../stores/named-store.ts'
import { namedStores } from '../stores/store-urls.ts'

export const addMigrateCommand = (formctl: Command): void => {
  const migrate = formctl
    .command('migrate')
    .description('migrate both stores to this release: tables and indexes; can be repeated')
    .action(async function (this: Command) {
      const { directory, forms } = namedStores(process.env)
      const stores = {
        directory: await withStoreName(directory, () => migrateDirectoryStore(directory.url)),
        forms: await withStoreName(forms, () => migrateFormsStore(forms.url)),
      }
      const lines = Object.entries(stores).map(
        ([store, { engine, version }]) =>
          `The ${store} store on ${engine} has version ${version} of its schema.`,
      )
      printOutcome(this, { json: stores, text: lines.join('\n') })
    })
  addExamples(migrate, 'migrate', 'migrate --json')
}
