import type { FormPath } from '@fms/contracts'
import { addSizes, type FormsStore, noRevisions, type PruneRule, type RevisionsSize } from '@fms/forms-store'
import { Interruption } from '../bulk/interruption.ts'

/** What was pruned, or would be. */
export interface PrunedForms extends RevisionsSize {
  /** The number of forms with such revisions. */
  forms: number
}

export interface PruneOptions extends PruneRule {
  /** Default: all organizations. */
  organizationId?: string
  dryRun: boolean
}

/**
 * Prunes the revisions of all forms, one form after another. Forms that are created meanwhile may be left out.
 *
 * @throws {Error} if it is interrupted, after the batch in progress.
 */
export const pruneForms = async (store: FormsStore, options: PruneOptions): Promise<PrunedForms> => {
  using interruption = new Interruption()
  let result: PrunedForms = { forms: 0, ...noRevisions }
  for await (const form of interruption.until(candidates(store, options))) {
    const size = options.dryRun
      ? await store.revisionGrowth.prunable(form, options)
      : await pruneForm(store, form, options, interruption.signal)
    if (size.revisions > 0) result = { forms: result.forms + 1, ...addSizes(result, size) }
  }
  interruption.check(
    options.dryRun
      ? 'Nothing was deleted.'
      : `${result.revisions} revisions are deleted. Repeat the command to delete the rest.`,
  )
  return result
}

async function* candidates(
  store: FormsStore,
  { organizationId, keep }: PruneOptions,
): AsyncGenerator<FormPath> {
  if (organizationId !== undefined) {
    yield* store.revisionGrowth.formsToPrune(organizationId, keep)
    return
  }
  for await (const organization of store.organizations()) {
    yield* store.revisionGrowth.formsToPrune(organization.organizationId, keep)
  }
}

const pruneForm = async (
  store: FormsStore,
  form: FormPath,
  rule: PruneRule,
  signal: AbortSignal,
): Promise<RevisionsSize> => {
  let total = noRevisions
  while (!signal.aborted) {
    const batch = await store.revisionGrowth.prune(form, rule)
    if (batch.revisions === 0) return total
    total = addSizes(total, batch)
    // Signals arrive between two turns of the event loop, and SQLite needs none for a batch.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return total
}
