import { randomUUIDv7 } from 'node:crypto'
import { writeConflict } from '@fms/store-kit/mongodb'
import { requestIdReused } from '../../errors.ts'
import type { FormRef } from '../../forms-store.ts'
import { type IdentifiedRequest, RequestReplay } from '../../requests/identified-request.ts'
import { isRepeat, rejectRepeat } from '../../requests/reject-repeat.ts'
import type { FormDocument, FormsCollections, RequestDocument } from '../documents.ts'
import type { ChangeRecorder } from '../events/record-event.ts'
import { formIdOf } from '../form-queries.ts'
import { isCarriedOut } from './is-carried-out.ts'

/**
 * How long another request with the same id waits until it may take over the reservation of one that was not carried out,
 * in milliseconds. No request takes this long.
 */
const maxRequestMs = 60_000

/** The form that a request names. */
type RequestTarget = Pick<RequestDocument, 'formId' | 'publicId' | 'incarnation'>

/** What a create reserves. */
type CreateTarget = Required<RequestTarget>

export const targetOf = (form: FormDocument | undefined): RequestTarget | undefined =>
  form && { formId: formIdOf(form), publicId: form.publicId }

/** The `_id` of a request's reservation. */
const requestKey = (organizationId: string, { method, requestId }: IdentifiedRequest): string =>
  `${organizationId}/${method}/${requestId}`

/**
 * A change with a `requestId`, over all attempts of one call: docs/decisions/0035-remember-requests-by-their-events.md.
 * Each attempt reads the form, recognizes the request, and sends its change on condition of what it has read.
 */
export class RequestInProgress {
  /** Whether the change of an attempt may be stored. */
  mayBeCarriedOut = false
  readonly #collections: FormsCollections
  readonly #organizationId: string
  readonly #request: IdentifiedRequest
  /** The reservation that this call relies on. */
  #reserved: RequestDocument | undefined

  constructor(collections: FormsCollections, organizationId: string, request: IdentifiedRequest) {
    this.#collections = collections
    this.#organizationId = organizationId
    this.#request = request
  }

  /** The part of the event of the change that proves that the request was carried out. */
  get eventFields(): { id: string } {
    return { id: this.#reserved!.eventId }
  }

  /**
   * Reserves the request, or finds what an earlier attempt has reserved. Call it after the form was read.
   *
   * @param target the form; undefined if there is none, which reserves nothing.
   * @returns `writeConflict` if it is not known yet whether the request was carried out.
   * @throws {RequestReplay} when it was carried out; {ApiError} REQUEST_ID_REUSED when another request has the id.
   */
  async recognize(
    { formRef }: Pick<FormRef, 'formRef'>,
    target: RequestTarget | undefined,
  ): Promise<undefined | typeof writeConflict> {
    const reserved = await this.#reserve(formRef, target)
    return reserved === writeConflict ? reserved : undefined
  }

  /** Like `recognize`, for a create. @returns the ids of the new form: those that the first attempt has reserved. */
  async recognizeCreate(target: CreateTarget): Promise<CreateTarget | typeof writeConflict> {
    const reserved = await this.#reserve(undefined, target)
    if (reserved === writeConflict) return reserved
    const { formId, publicId, incarnation = target.incarnation } = reserved!
    return { formId, publicId, incarnation }
  }

  /** @throws {RequestReplay} */
  replay(): never {
    const { organizationId, formId, publicId } = this.#reserved!
    throw new RequestReplay({ organizationId, formId, publicId })
  }

  /** Deletes the reservation if nothing was carried out, unless another call relies on it. */
  async withdraw(): Promise<void> {
    if (this.mayBeCarriedOut || !this.#reserved) return
    const { _id, organizationId, eventId } = this.#reserved
    await this.#collections.requests.deleteOne({ _id, organizationId, eventId, isShared: false })
  }

  /** Gives up the ids of a create because another form has the public id: no attempt can use them. */
  async discard(): Promise<void> {
    const { _id, organizationId, eventId } = this.#reserved!
    this.#reserved = undefined
    await this.#collections.requests.deleteOne({ _id, organizationId, eventId })
  }

  async #reserve(
    formRef: string | undefined,
    target: RequestTarget | undefined,
  ): Promise<RequestDocument | undefined | typeof writeConflict> {
    if (this.#reserved) {
      // An attempt of another call may have been faster.
      const isDone = await isCarriedOut(this.#collections, this.#reserved)
      return isDone === true ? this.replay() : isDone || this.#reserved
    }
    const _id = requestKey(this.#organizationId, this.#request)
    for (;;) {
      const own = target && this.#newDocument(_id, target)
      if (own && (await this.#collections.requests.insert(own))) {
        this.#reserved = own
        return own
      }
      const found = await this.#collections.requests.findOne({ _id })
      if (!found && own) continue
      const joined = found && (await this.#join(found, formRef, own))
      if (joined !== 'changed') return joined
    }
  }

  /** Joins the calls that rely on a reservation, or takes over one of another request that was not carried out. */
  async #join(
    found: RequestDocument,
    formRef: string | undefined,
    own: RequestDocument | undefined,
  ): Promise<RequestDocument | undefined | 'changed' | typeof writeConflict> {
    const isDone = await isCarriedOut(this.#collections, found)
    if (isDone === writeConflict) return writeConflict
    if (isDone) return rejectRepeat(found, formRef, this.#request)
    const isSame = isRepeat(found, formRef, this.#request)
    const reserveTime = Date.now()
    if (!isSame && found.reserveTime > reserveTime - maxRequestMs) {
      throw requestIdReused(this.#organizationId, this.#request)
    }
    if (!own) return undefined
    const next = isSame ? { ...found, ...namedForm(own), isShared: true, reserveTime } : own
    const { _id, ...fields } = next
    const { organizationId, eventId, isShared, reserveTime: before } = found
    const isCurrent = { _id, organizationId, eventId, isShared, reserveTime: before }
    if (!(await this.#collections.requests.set(isCurrent, fields))) return 'changed'
    this.#reserved = next
    return next
  }

  #newDocument(_id: string, { formId, publicId, incarnation }: RequestTarget): RequestDocument {
    return {
      _id,
      organizationId: this.#organizationId,
      formId,
      publicId,
      ...(incarnation !== undefined && { incarnation }),
      digest: this.#request.digest,
      eventId: randomUUIDv7(),
      reserveTime: Date.now(),
      isShared: false,
    }
  }
}

/** The public id of the form that a request names: since the first attempt, another form may have its id. */
const namedForm = ({ incarnation, publicId }: RequestDocument): Partial<RequestDocument> =>
  // The ids of a create are those of the first attempt.
  incarnation === undefined ? { publicId } : {}

/** Runs a change that may have a `requestId`. A refused change leaves no reservation. */
export const withRequest = async <T>(
  collections: FormsCollections,
  organizationId: string,
  recorder: ChangeRecorder,
  change: (recorder: ChangeRecorder) => Promise<T>,
): Promise<T> => {
  if (!recorder.context.request) return change(recorder)
  const request = new RequestInProgress(collections, organizationId, recorder.context.request)
  try {
    const result = await change({ ...recorder, request })
    await request.withdraw()
    return result
  } catch (error) {
    // If this fails, the reservation stays: repeats of the request continue it, and others wait a minute.
    if (!(error instanceof RequestReplay)) await request.withdraw().catch(() => {})
    throw error
  }
}

/** Sends the write that carries a change out. Until it has a result, the change may be stored. */
export const sendChange = async <T>({ request }: ChangeRecorder, send: () => Promise<T>): Promise<T> => {
  if (request) request.mayBeCarriedOut = true
  const result = await send()
  if (request && !result) request.mayBeCarriedOut = false
  return result
}

/**
 * Looks a request up, for a dry run. Index: that of `_id`.
 *
 * @throws {RequestReplay} when it was carried out before; {ApiError} REQUEST_ID_REUSED when another request was.
 */
export const checkRequest = async (
  collections: FormsCollections,
  organizationId: string,
  formRef: string | undefined,
  request: IdentifiedRequest,
): Promise<undefined | typeof writeConflict> => {
  const found = await collections.requests.findOne({ _id: requestKey(organizationId, request) })
  const isDone = found && (await isCarriedOut(collections, found))
  if (isDone === writeConflict) return writeConflict
  return isDone ? rejectRepeat(found!, formRef, request) : undefined
}
