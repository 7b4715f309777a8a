import { maxViolations } from '@fms/aip'
import type { PreconditionViolation } from '@fms/contracts'

/** Bound of the reply, which must fit a NATS message (1 MiB). */
const maxViolationBytes = 768 * 1024

/** The first violations: at most 1,000, and 768 KiB as JSON. Computes no more of them. */
export const takeViolations = (found: Iterable<PreconditionViolation>): PreconditionViolation[] => {
  const violations: PreconditionViolation[] = []
  let bytes = 0
  for (const violation of found) {
    bytes += Buffer.byteLength(JSON.stringify(violation))
    if (bytes > maxViolationBytes) break
    violations.push(violation)
    if (violations.length === maxViolations) break
  }
  return violations
}
