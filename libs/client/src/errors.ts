import type {
  ErrorBody,
  ErrorDetail,
  FieldViolation,
  PreconditionViolation,
  Status,
} from './resources/error-body.ts'

/** Every reason that this release of the API gives; `docs/errors.md` says what each means. */
export const knownReasons = [
  'API_KEY_INVALID',
  'AUTHENTICATION_UNAVAILABLE',
  'BODY_TOO_LARGE',
  'DRAFT_NOT_PUBLISHABLE',
  'FILTER_TOO_COMPLEX',
  'FILTER_TOO_EXPENSIVE',
  'FORM_MOVED',
  'FORM_NOT_FOUND',
  'INTERNAL',
  'INVALID_FILTER',
  'INVALID_IF_MATCH',
  'INVALID_ORDER_BY',
  'INVALID_PAGE_TOKEN',
  'INVALID_REQUEST',
  'MALFORMED_JSON',
  'MALFORMED_REQUEST',
  'METHOD_NOT_ALLOWED',
  'ORGANIZATION_NOT_FOUND',
  'OVERLOADED',
  'PATH_NOT_FOUND',
  'PUBLISHING_UNAVAILABLE',
  'PUBLISH_TIMEOUT',
  'QUOTA_EXCEEDED',
  'RATE_LIMITED',
  'REQUEST_ID_REUSED',
  'REVISION_NOT_FOUND',
  'STORE_NOT_MIGRATED',
  'STORE_SCHEMA_TOO_NEW',
  'STORE_UNAVAILABLE',
  'TOO_MANY_AT_ONCE',
  'TOO_MANY_WRONG_KEYS',
  'UNSUPPORTED_MEDIA_TYPE',
  'UPDATE_ABORTED',
  'UPSTREAM_UNAVAILABLE',
  'WRITE_FORBIDDEN',
] as const
export type KnownReason = (typeof knownReasons)[number]

/** Why a request was refused: a known reason, one of a later release, or `UNKNOWN`. */
export type Reason = KnownReason | 'UNKNOWN' | (string & {})

/** An answer that is not a success (AIP-193). */
export class FormsApiError extends Error {
  override readonly name = 'FormsApiError'
  /** The HTTP status code. */
  readonly code: number
  /** The canonical code that it stands for; `UNKNOWN` if the answer is none of the API's own, a proxy's for one. */
  readonly status: Status | 'UNKNOWN'
  /** What programs look at: see {@link isReason}. */
  readonly reason: Reason
  /** The values that the message mentions. */
  readonly metadata: Readonly<Record<string, string>>
  /** What is wrong with the request, place by place. */
  readonly fieldViolations: readonly FieldViolation[]
  /** Why the draft cannot be published, rule by rule. */
  readonly preconditionViolations: readonly PreconditionViolation[]
  /** The request's id in the service's logs; name it when you report a problem. */
  readonly requestId: string | undefined
  /** How long to wait before a repeat may help. */
  readonly retryAfterSeconds: number | undefined

  /** @param text the body of the answer. */
  constructor({ status: code, headers }: Pick<Response, 'status' | 'headers'>, text: string) {
    const error = errorIn(text)
    super(
      error?.message ??
        `The answer has status ${code}, and is not one of the API's. Check baseUrl and proxies.`,
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
    // The body comes first: a browser may hide the header from a page of another origin.
    this.retryAfterSeconds = secondsIn(detail(details, 'RetryInfo')?.retryDelay ?? headers.get('retry-after'))
  }
}

/** No answer came, or only the beginning of one: whether the request was carried out is not known. */
export class FormsConnectionError extends Error {
  override readonly name = 'FormsConnectionError'
}

/**
 * Whether an error is an answer of the API with one of these reasons.
 *
 * @example if (isReason(error, 'FORM_NOT_FOUND', 'ORGANIZATION_NOT_FOUND')) return undefined
 */
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

/** Of `1.5s` (RetryInfo), `2` or a date (RFC 9110 §10.2.3); a date counts from now. */
const secondsIn = (text: string | null): number | undefined => {
  if (text === null) return undefined
  const seconds = /^\d+(\.\d+)?s?$/.test(text)
    ? Number.parseFloat(text)
    : Math.max(0, (Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : seconds
}
