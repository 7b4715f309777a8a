import { setTimeout as delay } from 'node:timers/promises'
import type { Position } from '@fms/aip'
import type { DeletedForm, DeletedFormPosition, FormsStore, OrganizationForms } from '@fms/forms-store'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import type { Command } from '../cli/command.ts'

const pageSize = 100

/** The number of deleted forms of an organization that can be restored. */
export const countDeletedForms = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await store.listDeleted({ organizationId, limit: 1, skip: 0 })).totalSize

/** The number of forms of these organizations, deleted ones included. */
export const countAllForms = async (
  store: FormsStore,
  organizations: readonly OrganizationForms[],
): Promise<number> => {
  let total = 0
  for (const { organizationId, forms } of organizations) {
    total += forms + (await countDeletedForms(store, organizationId))
  }
  return total
}

/** The ids of an organization's forms, read in pages. Forms may be deleted during the iteration. */
async function* formIds(store: FormsStore, organizationId: string): AsyncGenerator<string> {
  const orderBy = [{ field: 'publicId' as const, descending: false }]
  let after: Position | undefined
  do {
    const page = { organizationId, orderBy, limit: pageSize, skip: 0, ...(after && { after }) }
    const { forms, next } = await store.list(page)
    for (const { formId } of forms) yield formId
    after = next
  } while (after)
}

/** The deleted forms of an organization, most recently deleted first. They may be purged during the iteration. */
export async function* deletedForms(store: FormsStore, organizationId: string): AsyncGenerator<DeletedForm> {
  let after: DeletedFormPosition | undefined
  do {
    const page = { organizationId, limit: pageSize, skip: 0, ...(after && { after }) }
    const { deletedForms, next } = await store.listDeleted(page)
    yield* deletedForms
    after = next
  } while (after)
}

/** Forms that are deleted concurrently, so that SQLite commits them in one transaction. */
const concurrency = 8

/**
 * Deletes all forms of an organization for good, including those deleted before, and forms created within `lastRequestsMs`
 * of the call.
 *
 * @returns the number of forms, without those deleted before.
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
  using progress = await startProgress(command, 'Deleting forms', (await store.usage(organizationId)).forms)
  let deleted = 0
  const deleteAll = () =>
    forEachConcurrently(concurrency, interruption.until(formIds(store, organizationId)), async (formRef) => {
      if (await store.delete({ organizationId, formRef }, () => {})) deleted++
      progress.step()
    })
  const purgeAll = () =>
    forEachConcurrently(
      concurrency,
      interruption.until(deletedForms(store, organizationId)),
      async ({ formId }) => void (await store.purge({ organizationId, formRef: formId }, () => {})),
    )
  await deleteAll()
  await lastRequests
  await deleteAll()
  await purgeAll()
  interruption.check(`${deleted} forms are deleted. Repeat the command to delete the rest.`)
  return deleted
}
