import { migrateDirectoryStore } from '@fms/directory-store'
import { migrateFormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { storeUrls } from '../store-urls.ts'

export const addMigrateCommand = (formctl: Command): void => {
  formctl
    .command('migrate')
    .description('prepare both stores for this release: tables and indexes; may run again')
    .action(async function (this: Command) {
      const urls = storeUrls(process.env)
      const stores = {
        directory: await migrateDirectoryStore(urls.directory),
        forms: await migrateFormsStore(urls.forms),
      }
      const lines = Object.entries(stores).map(
        ([store, { engine, version }]) =>
          `The ${store} store on ${engine} has version ${version} of its schema.`,
      )
      const { json } = this.optsWithGlobals<{ json?: boolean }>()
      process.stdout.write(`${json ? JSON.stringify(stores) : lines.join('\n')}\n`)
    })
}
