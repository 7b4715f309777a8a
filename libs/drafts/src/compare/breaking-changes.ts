import type { JsonObject } from '@fms/aip'
import type { BreakingChange, FormChange } from '@fms/contracts'
import { toFormChange } from './compare-drafts.ts'
import { compareQuestions } from './compare-steps.ts'

/**
 * The breaking changes of `compareDrafts`, in its order, without the work for the others: linear time, up to 50 ms for two
 * forms of 768 KiB. Computes each change when it is needed. Where `compareDrafts` replaces a long list by one change for
 * each step, this has the breaking changes of the long list.
 */
export function* breakingChanges(
  from: JsonObject,
  to: JsonObject,
): Generator<FormChange & { breaking: BreakingChange }> {
  const place = { from: ['steps'], to: ['steps'] }
  // The default of a snapshot of an earlier release.
  const [former, later] = [from.steps ?? [], to.steps ?? []]
  for (const { breaking, ...difference } of compareQuestions(former, later, place)) {
    if (breaking) yield { ...toFormChange(difference), breaking }
  }
}
