import { apiError } from '@fms/aip'
import type { PreconditionViolation } from '@fms/contracts'

/** The draft violates rules of publishing. Nothing was published. */
export const draftNotPublishable = (preconditionViolations: PreconditionViolation[]) =>
  apiError('DRAFT_NOT_PUBLISHABLE', firstOf(preconditionViolations), { preconditionViolations })

/** `refuseBreaking` is set, and changes since the live revision orphan answers. Nothing was published. */
export const breakingChanges = (preconditionViolations: PreconditionViolation[]) =>
  apiError('BREAKING_CHANGES', firstOf(preconditionViolations), { preconditionViolations })

const firstOf = ([first]: PreconditionViolation[]) => ({ subject: first?.subject ?? '' })
