/**
 * Writes the stores of a release as text, for `e2e/upgrade.test.ts`: once, with the sources of that release. Those of the first
 * release, 0.2.0, are written again whenever a schema changes before it.
 *
 *     npx node e2e/stores/write-stores.ts 0.2.0
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import { migrateDirectoryStore, openDirectoryStore } from '@fms/directory-store'
import { type FormsStore, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { engines } from './engines.ts'
import { fillDirectory, readDirectory } from './fill-directory.ts'
import { fillForms, readForms } from './fill-forms.ts'

const [release = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(release))
  throw new Error('Name a release: npx node e2e/stores/write-stores.ts 0.2.0')
const folder = join(import.meta.dirname, release)
mkdirSync(folder, { recursive: true })

// Every engine has the same content.
mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 10, 20, 9, 30) })

/** Numbers the event of each change before the next one, so that all engines have them in the same order. */
const numbering = (store: FormsStore): FormsStore =>
  new Proxy(store, {
    get: (_, name: keyof FormsStore) => {
      const member = store[name]
      if (typeof member !== 'function') return member
      return async (...args: never[]) => {
        const result = await (member as (...args: never[]) => unknown).apply(store, args)
        await store.events.sequence(1_000)
        return result
      }
    },
  })

const examples: Record<'forms' | 'directory', Record<string, unknown>> = { forms: {}, directory: {} }
for (const { name, create, dump } of engines) {
  await using forms = await create('forms')
  await migrateFormsStore(forms.url)
  {
    await using store = await openFormsStore(forms.url, { clears: false, deletedFormsDays: 3_650 })
    await fillForms(numbering(store))
    examples.forms.content = await readForms(store)
  }
  examples.forms[name] = await dump(forms.url)

  await using directory = await create('directory')
  await migrateDirectoryStore(directory.url)
  {
    await using store = await openDirectoryStore(directory.url)
    await fillDirectory(store)
    examples.directory.content = await readDirectory(store)
  }
  examples.directory[name] = await dump(directory.url)
}

for (const [store, example] of Object.entries(examples))
  writeFileSync(join(folder, `${store}.json`), `${JSON.stringify(example, null, 2)}\n`)
