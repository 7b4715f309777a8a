import { setTimeout as delay } from 'node:timers/promises'
import type { FormPosition, FormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'

const pageSize = 100
/** Forms that are deleted concurrently, so that SQLite commits them in one transaction. */
const concurrency = 8

/** The number of forms in an organization. */
export const countForms = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await store.list({ organizationId, orderBy: [], limit: 1, skip: 0 })).totalSize

/**
 * Deletes all forms of an organization, including forms created within `lastRequestsMs` of the call.
 *
 * @returns the number of deleted forms.
 * @throws {Error} if it is interrupted.
 */
export const deleteForms = async (
  command: Command,
  store: FormsStore,
  organizationId: string,
  lastRequestsMs: number,
): Promise<number> => {
  const lastRequests = delay(lastRequestsMs)
  using interruption = new Interruption()
  using progress = await startProgress(command, 'Deleting forms', await countForms(store, organizationId))
  let deleted = 0
  const deleteAll = () =>
    forEachConcurrently(concurrency, interruption.until(formIds(store, organizationId)), async (formRef) => {
      if (await store.delete({ organizationId, formRef }, () => {})) deleted++
      progress.step()
    })
  await deleteAll()
  await lastRequests
  await deleteAll()
  interruption.check(`${deleted} forms are deleted. Repeat the command to delete the rest.`)
  return deleted
}

/** The ids of an organization's forms, read in pages. Forms may be deleted during the iteration. */
async function* formIds(store: FormsStore, organizationId: string): AsyncGenerator<string> {
  const orderBy = [{ field: 'publicId' as const, descending: false }]
  let after: FormPosition | undefined
  do {
    const page = { organizationId, orderBy, limit: pageSize, skip: 0, ...(after && { after }) }
    const { forms, next } = await store.list(page)
    for (const { formId } of forms) yield formId
    after = next
  } while (after)
}
