import type { z } from 'zod'

/** The number of issues that a parse collects: one more than an error lists. */
export const maxReportedIssues = 1001

/** The number of issues found so far in bounded items, keyed by the context that Zod creates for each parse. */
const issueCounts = new WeakMap<object, number>()

/**
 * Limits the validation of lists and maps: after 1,001 issues, a parse skips the remaining items.
 *
 * @param item is passed on as returned: `.meta()` and similar methods return an unbounded copy.
 */
export const bounded = <T extends z.ZodType>(item: T): T => {
  const { run } = item._zod
  item._zod.run = (payload, context) => {
    const before = issueCounts.get(context) ?? 0
    if (before >= maxReportedIssues) return payload
    const result = run(payload, context)
    if (!(result instanceof Promise) && result.issues.length > 0) {
      // Nested bounded items have already counted their share of these issues.
      issueCounts.set(context, Math.max(issueCounts.get(context) ?? 0, before + result.issues.length))
    }
    return result
  }
  return item
}
