import { setTimeout as delay } from 'node:timers/promises'
import type { FormPosition, FormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { eachAtOnce } from '../copy/each-at-once.ts'
import { Interruption } from '../copy/interruption.ts'
import { startProgress } from '../copy/progress.ts'

const pageSize = 100
/** Forms that are deleted at once: SQLite commits them together. */
const atOnce = 8

/** How many forms an organization has. */
export const countForms = async (store: FormsStore, organizationId: string): Promise<number> =>
  (await store.list({ organizationId, orderBy: [], limit: 1, skip: 0 })).totalSize

/**
 * Deletes all forms of an organization, also those that are created within `lastRequestsMs` of the call.
 *
 * @returns how many there were.
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
    eachAtOnce(atOnce, interruption.until(formIds(store, organizationId)), async (formRef) => {
      if (await store.delete({ organizationId, formRef }, () => {})) deleted++
      progress.step()
    })
  await deleteAll()
  await lastRequests
  await deleteAll()
  interruption.check(`${deleted} forms are deleted. The same command again deletes the rest.`)
  return deleted
}

/** The ids of an organization's forms, a page at a time; forms that are deleted meanwhile do not matter. */
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
