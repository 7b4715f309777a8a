import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { withExamples } from '../examples.ts'
import { namingStore } from '../naming-store.ts'
import { printOutcome } from '../outcome.ts'
import { namedStores } from '../store-urls.ts'

export const addMigrateCommand = (formctl: Command): void => {
  const migrate = formctl
    .command('migrate')
    .description('prepare both stores for this release: tables and indexes; may run again')
    .action(async function (this: Command) {
      const { directory, forms } = namedStores(process.env)
      const stores = {
        directory: await namingStore(directory, () => migrateDirectoryStore(directory.url)),
        forms: await namingStore(forms, () => migrateFormsStore(forms.url)),
      }
      const lines = Object.entries(stores).map(
        ([store, { engine, version }]) =>
          `The ${store} store on ${engine} has version ${version} of its schema.`,
      )
      printOutcome(this, { json: stores, text: lines.join('\n') })
    })
  withExamples(migrate, 'migrate', 'migrate --json')
}
