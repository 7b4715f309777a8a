import { maxViolations } from '@fms/aip'

/** Bound of the reply, which must fit a NATS message (1 MiB). */
const maxViolationBytes = 768 * 1024

/** The first violations or warnings: at most `max`, and 768 KiB as JSON. Computes no more of them. */
export const takeViolations = <T>(found: Iterable<T>, max = maxViolations): T[] => {
  const violations: T[] = []
  let bytes = 0
  for (const violation of found) {
    bytes += Buffer.byteLength(JSON.stringify(violation))
    if (bytes > maxViolationBytes) break
    violations.push(violation)
    if (violations.length === max) break
  }
  return violations
}
