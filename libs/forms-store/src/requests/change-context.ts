import type { Actor } from '@fms/contracts'
import type { IdentifiedRequest } from './identified-request.ts'

/** Who makes a change, for its event. */
export interface ChangeContext {
  actor: Actor
  /** `x-request-id` of the request; `""` for none. */
  httpRequestId: string
  /** Makes repeats of the change safe: the store carries it out once. Default: each call is a change of its own. */
  request?: IdentifiedRequest | undefined
}

/** The context of changes by operators' programs, such as formctl. */
export const operatorContext: ChangeContext = { actor: { operator: true }, httpRequestId: '' }
