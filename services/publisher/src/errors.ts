import { ApiError } from '@fms/aip'
import type { PreconditionViolation } from '@fms/contracts'

/** The draft violates rules of publishing. Nothing was published. */
export const draftNotPublishable = (preconditionViolations: PreconditionViolation[]) => {
  const [first] = preconditionViolations
  const others = preconditionViolations.length > 1 ? ` (and ${preconditionViolations.length - 1} more)` : ''
  return new ApiError(
    'FAILED_PRECONDITION',
    'DRAFT_NOT_PUBLISHABLE',
    `The draft cannot be published: ${first?.subject} ${first?.description}${others}. Correct the fields in violations, then publish again.`,
    { preconditionViolations, metadata: { subject: first?.subject ?? '' } },
  )
}

/** `refuseBreaking` is set, and changes since the live revision orphan answers. Nothing was published. */
export const breakingChanges = (preconditionViolations: PreconditionViolation[]) => {
  const [first] = preconditionViolations
  const others = preconditionViolations.length > 1 ? ` (and ${preconditionViolations.length - 1} more)` : ''
  return new ApiError(
    'FAILED_PRECONDITION',
    'BREAKING_CHANGES',
    `The publish would orphan answers that respondents have given: ${first?.subject} ${first?.description}${others}. Restore the questions and options in violations, or publish without refuseBreaking.`,
    { preconditionViolations, metadata: { subject: first?.subject ?? '' } },
  )
}
