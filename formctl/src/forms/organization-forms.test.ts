import { randomUUID } from 'node:crypto'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FormsStore, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { expect, it } from 'vitest'
import { Command } from '../cli/command.ts'
import { processTerminal } from '../cli/terminal.ts'
import { newFormRecord } from '../testing/form-record.ts'
import { deleteForms } from './organization-forms.ts'

/** A store that lists no deleted form before a collection of events, as MongoDB after a killed delete. */
const listingLate = (store: FormsStore): FormsStore => {
  let isCollected = false
  const sequence = async () => {
    isCollected = true
    return 0
  }
  const events = new Proxy(store.events, {
    get: (target, name) => (name === 'sequence' ? sequence : Reflect.get(target, name)),
  })
  const listDeleted: FormsStore['listDeleted'] = async (query) =>
    isCollected ? store.listDeleted(query) : { deletedForms: [], totalSize: 0 }
  const changed: Partial<FormsStore> = { events, listDeleted }
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(name in changed ? changed : target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

it('purges deleted forms that only a collection of events finds', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'delete-forms-'))
  const url = `sqlite:${join(folder.path, 'forms.db')}`
  await migrateFormsStore(url)
  await using store = await openFormsStore(url)
  const organizationId = randomUUID()
  await store.importForm(newFormRecord({ organizationId, isDeleted: true }))
  const command = new Command(processTerminal()).option('--json').parse(['--json'], { from: 'user' })

  expect(await deleteForms(command, listingLate(store), organizationId, 0)).toBe(0)

  expect(await Array.fromAsync(store.exportForms(organizationId))).toEqual([])
})
