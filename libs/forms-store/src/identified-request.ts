import { ExpectedOutcome } from '@fms/aip'
import type { Actor, FormPath } from '@fms/contracts'

/** The changes that take a `requestId`. A publish has a memory of its own: its command. */
export type ChangeMethod = 'create' | 'update' | 'delete' | 'undelete' | 'purge' | 'rollback' | 'unpublish'

/** A change with a `requestId` (AIP-155). The store remembers it as long as the event of the change. */
export interface IdentifiedRequest {
  /** A lower-case UUID, unique in the organization for the method. */
  requestId: string
  method: ChangeMethod
  /** SHA-256 of the parameters beside the form, in hexadecimal digits: requests with equal parameters have equal digests. */
  digest: string
}

export interface ReplayedForm extends FormPath {
  publicId: string
}

/** Thrown instead of a second change: the request was carried out before, with the same form and digest. */
export class RequestReplay extends ExpectedOutcome {
  /** May be gone since, and another form may have its id, with another public id. */
  readonly form: ReplayedForm
  readonly request: IdentifiedRequest

  constructor(form: ReplayedForm, request: IdentifiedRequest) {
    super('The request was carried out before')
    this.form = form
    this.request = request
  }
}

export interface ChangeContext {
  actor: Actor
  /** `x-request-id` of the request; `""` for none. */
  httpRequestId: string
  /** Makes repeats of the change safe: the store carries it out once. Default: each call is a change of its own. */
  request?: IdentifiedRequest | undefined
  /** Whether to decide and check the change without storing it (AIP-163). */
  validateOnly?: boolean | undefined
}

/** The context of changes by operators' programs, such as formctl. */
export const operatorContext: ChangeContext = { actor: { operator: true }, httpRequestId: '' }
