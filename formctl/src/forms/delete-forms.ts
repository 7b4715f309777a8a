import { setTimeout as delay } from 'node:timers/promises'
import type { FormsStore } from '@fms/forms-store'
import type { Command } from 'commander'
import { forEachConcurrently } from '../bulk/for-each-concurrently.ts'
import { Interruption } from '../bulk/interruption.ts'
import { startProgress } from '../bulk/progress.ts'
import { collectReadyEvents } from '../events/collect-events.ts'
import { countForms, deletedForms, formIds } from './list-forms.ts'

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
  using progress = await startProgress(command, 'Deleting forms', await countForms(store, organizationId))
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
  // Deletes that were killed are in the list of deleted forms afterwards.
  await collectReadyEvents(store.events)
  await purgeAll()
  interruption.check(`${deleted} forms are deleted. Repeat the command to delete the rest.`)
  return deleted
}
