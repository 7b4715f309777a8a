import type { knownReasons } from './known-reasons.ts'
import type {
  ErrorBody,
  ErrorDetail,
  FieldViolation,
  PreconditionViolation,
  Status,
} from './schemas.generated.ts'

/** One of {@link knownReasons}. */
export type KnownReason = (typeof knownReasons)[number]

/** Reason of an error: a known one, one of a later release, or `UNKNOWN`. */
export type Reason = KnownReason | 'UNKNOWN' | (string & {})

/** An error response (AIP-193). */
export class FormsApiError extends Error {
  override readonly name = 'FormsApiError'
  /** The HTTP status code. */
  readonly code: number
  /** The canonical status; `UNKNOWN` for a response that is not from the API, such as one of a proxy. */
  readonly status: Status | 'UNKNOWN'
  /** Stable, for programs: see {@link isReason}. */
  readonly reason: Reason
  /** The values in the message. */
  readonly metadata: Readonly<Record<string, string>>
  /** The invalid fields of the request. */
  readonly fieldViolations: readonly FieldViolation[]
  /** The rules that keep the draft from being published, or from a rollback. */
  readonly preconditionViolations: readonly PreconditionViolation[]
  /** Id of the request in the logs of the service. Include it in a report of a problem. */
  readonly requestId: string | undefined
  /** Seconds after which a retry may succeed. */
  readonly retryAfterSeconds: number | undefined

  /** @param text the response body. */
  constructor({ status: code, headers }: Pick<Response, 'status' | 'headers'>, text: string) {
    const error = errorIn(text)
    super(
      error?.message ?? `The response has status ${code} and is not from the API. Check baseUrl and proxies.`,
    )
    const details = error?.details ?? []
    const info = detail(details, 'ErrorInfo')
    this.code = code
    this.status = error?.status ?? 'UNKNOWN'
    this.reason = info?.reason ?? 'UNKNOWN'
    this.metadata = info?.metadata ?? {}
    this.fieldViolations = detail(details, 'BadRequest')?.fieldViolations ?? []
    this.preconditionViolations = detail(details, 'PreconditionFailure')?.violations ?? []
    this.requestId = detail(details, 'RequestInfo')?.requestId ?? headers.get('x-request-id') ?? undefined
    // Prefers the body: a browser may hide the header from a page of another origin.
    this.retryAfterSeconds = secondsIn(detail(details, 'RetryInfo')?.retryDelay ?? headers.get('retry-after'))
  }
}

/** No response, or an incomplete one. The service may or may not have executed the request. */
export class FormsConnectionError extends Error {
  override readonly name = 'FormsConnectionError'
  /** Whether the browser may have blocked a response to a page of another origin (`CORS_ORIGINS`). */
  readonly mayBeBlocked: boolean

  constructor(
    message: string,
    { mayBeBlocked = false, ...options }: ErrorOptions & { mayBeBlocked?: boolean },
  ) {
    super(message, options)
    this.mayBeBlocked = mayBeBlocked
  }
}

/** Whether an error is a {@link FormsApiError} with one of these reasons. */
export const isReason = <R extends KnownReason>(
  error: unknown,
  ...reasons: [R, ...R[]]
): error is FormsApiError & { readonly reason: R } =>
  error instanceof FormsApiError && reasons.some((reason) => reason === error.reason)

const errorIn = (text: string): ErrorBody['error'] | undefined => {
  try {
    const { error } = JSON.parse(text)
    return typeof error?.message === 'string' && Array.isArray(error.details) ? error : undefined
  } catch {
    return undefined
  }
}

type Detail<N extends string> = Extract<ErrorDetail, { '@type': `type.googleapis.com/google.rpc.${N}` }>

const detail = <N extends string>(details: ErrorDetail[], name: N) =>
  details.find((each) => each['@type'] === `type.googleapis.com/google.rpc.${name}`) as Detail<N> | undefined

/** Parses `1.5s` (RetryInfo), `2` or a date (RFC 9110 §10.2.3), which is relative to the current time. */
const secondsIn = (text: string | null): number | undefined => {
  if (text === null) return undefined
  const seconds = /^\d+(\.\d+)?s?$/.test(text)
    ? Number.parseFloat(text)
    : Math.max(0, (Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : seconds
}
