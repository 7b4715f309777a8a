import type { z } from 'zod'

/** One more than an error reports, so that it can say that there are more. */
export const maxFaults = 1001

/** Faults that a parse has found so far in bounded items, by the context that Zod makes for each parse. */
const faultsOf = new WeakMap<object, number>()

/**
 * Bounds the work for the items of a list or map that may have any number of them: once a parse has found 1,001 faults
 * in bounded items, the others pass unchecked. The parse fails in any case, and an error reports no more of them.
 *
 * @param item as the list or map takes it: `.meta()` and the like make an unbounded copy.
 */
export const bounded = <T extends z.ZodType>(item: T): T => {
  const { run } = item._zod
  item._zod.run = (payload, context) => {
    const before = faultsOf.get(context) ?? 0
    if (before >= maxFaults) return payload
    const result = run(payload, context)
    if (!(result instanceof Promise) && result.issues.length > 0) {
      // Items inside this one have counted some of its faults already.
      faultsOf.set(context, Math.max(faultsOf.get(context) ?? 0, before + result.issues.length))
    }
    return result
  }
  return item
}
