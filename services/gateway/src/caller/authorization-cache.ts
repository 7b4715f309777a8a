import { isDeepStrictEqual } from 'node:util'
import { ApiError } from '@fms/aip'
import {
  type AuthorizeRequest,
  AuthorizeResponse,
  type Identity,
  identityHeader,
  isUuid,
} from '@fms/contracts'
import { FairQueue } from '@fms/scheduling'
import { LRUCache } from 'lru-cache'
import { waitForSeats } from '../admission/admission-queue.ts'
import { authenticationUnavailable, tooManyWrongKeys } from '../errors.ts'
import { acquireOrRejectLater, KeyedConcurrencyLimit } from '../limits/concurrency-limits.ts'
import { textOf, type Upstream } from '../upstream/upstream.ts'

/** How long an authorization is fresh, from the moment of its request: a revoked key works for no longer. */
const freshMs = 1_000
/** Age from which an entry is refreshed in the background while it is served (stale-while-revalidate, RFC 5861). */
const refreshAfterMs = 750
/** How much longer an entry is served while organizations does not respond (stale-if-error, RFC 5861). */
const staleIfErrorMs = 30_000
const maxKeys = 10_000
const maxWaitingLookups = 1_000
const maxLookupWaitMs = 2_000

const authorizeTimeoutMs = 2_000

/** Looks up a key and its owner's role; undefined for an invalid key. @throws {Error} unless the status is 200 or 401. */
export type AuthorizeClient = (
  request: AuthorizeRequest,
  requestId: string,
) => Promise<AuthorizeResponse | undefined>

export interface Caller {
  identity: Identity
  token: () => string
}

interface CachedCaller extends Caller {
  requestedAt: number
  /** When a request to refresh it last failed. */
  failedAt?: number
}

interface Lookup {
  /** When its request was sent: Infinity while it waits for its turn. */
  requestedAt: number
  caller?: Promise<CachedCaller | undefined>
}

export interface AuthorizationCacheOptions {
  requestAuthorization: AuthorizeClient
  sign: (identity: Identity) => string
  /** Milliseconds of a monotonic clock. */
  now: () => number
  maxKeyLookups: number
  /** Concurrent look-ups of one user whose key is known, for further organizations; 0 lifts the limit. */
  maxPerUser: number
}

/**
 * Authorizes callers from memory, and from organizations where that has no fresh entry. Caches only successes.
 *
 * @returns undefined for an invalid key; an identity without `organizationId` for a caller who is no member.
 * @throws {ApiError} AUTHENTICATION_UNAVAILABLE without response and entry; TOO_MANY_WRONG_KEYS or TOO_MANY_AT_ONCE at
 *   a limit of look-ups.
 */
export const createAuthorizationCache = ({
  requestAuthorization,
  sign,
  now,
  maxKeyLookups,
  maxPerUser,
}: AuthorizationCacheOptions) => {
  const acquireLookup = createLookupLimits(maxKeyLookups, maxPerUser)
  /** By the hash of the key, then by {@link cacheKey}. */
  const cache = new LRUCache<string, Map<string, CachedCaller>>({ max: maxKeys })
  const inFlight = new Map<string, Lookup>()

  const cachedFor = ({ keyHash, organizationRef }: AuthorizeRequest) =>
    cache.get(keyHash)?.get(cacheKey(organizationRef))

  const lookUp = async (request: AuthorizeRequest, requestedAt: number, requestId: string) => {
    const { keyHash, organizationRef } = request
    const response = await requestAuthorization(request, requestId)
    if (!response) {
      cache.delete(keyHash)
      return undefined
    }
    const entries = cache.get(keyHash) ?? new Map<string, CachedCaller>()
    const key = cacheKey(organizationRef)
    const { userId, keyId, keyPrefix, readOnly, organization } = response
    const identity = { userId, readOnly, ...organization, key: { id: keyId, prefix: keyPrefix } }
    const cached = entries.get(key)
    // Services have verified the token of an equal identity.
    const isSame = isDeepStrictEqual(cached?.identity, identity)
    const token = isSame ? cached!.token : createCachedToken(() => sign(identity))
    const caller = { identity, token, requestedAt }
    if (organizationRef !== undefined && !response.organization) entries.delete(key)
    else cache.set(keyHash, entries.set(key, caller))
    return caller
  }

  const lookUpWhenAdmitted = async (lookup: Lookup, request: AuthorizeRequest, requestId: string) => {
    const release = await acquireLookup(userOf(cache.get(request.keyHash)))
    lookup.requestedAt = now()
    try {
      return await lookUp(request, lookup.requestedAt, requestId)
    } catch (cause) {
      const cached = cachedFor(request)
      if (cached) cached.failedAt = now()
      throw authenticationUnavailable(cause)
    } finally {
      release()
    }
  }

  const lookupKey = ({ keyHash, organizationRef }: AuthorizeRequest) =>
    `${keyHash} ${cacheKey(organizationRef)}`

  /** Shares one look-up among concurrent requests, as long as its result would be fresh. */
  const lookUpOnce = (request: AuthorizeRequest, requestId: string) => {
    const key = lookupKey(request)
    const running = inFlight.get(key)
    if (running && now() - running.requestedAt < freshMs) return running.caller!
    const lookup: Lookup = { requestedAt: Number.POSITIVE_INFINITY }
    inFlight.set(key, lookup)
    lookup.caller = lookUpWhenAdmitted(lookup, request, requestId).finally(() => {
      if (inFlight.get(key) === lookup) inFlight.delete(key)
    })
    return lookup.caller
  }

  const authorize = async (
    keyHash: string,
    organizationRef: string | undefined,
    requestId: string,
  ): Promise<Caller | undefined> => {
    const request = { keyHash, organizationRef }
    const cached = cachedFor(request)
    const ageOf = (time = Number.NEGATIVE_INFINITY) => now() - time
    const age = ageOf(cached?.requestedAt)
    if (age < refreshAfterMs) return cached
    const running = inFlight.get(lookupKey(request))
    // Out of reach: in the last second, a request has failed, or one has waited for all of it.
    const isUnreachable =
      ageOf(cached?.failedAt) < freshMs || (running !== undefined && ageOf(running.requestedAt) >= freshMs)
    if (age < (isUnreachable ? freshMs + staleIfErrorMs : freshMs)) {
      if (!running) lookUpOnce(request, requestId).catch(() => {})
      return cached
    }
    try {
      return await lookUpOnce(request, requestId)
    } catch (error) {
      const isUnavailable = error instanceof ApiError && error.reason === 'AUTHENTICATION_UNAVAILABLE'
      if (isUnavailable && age < freshMs + staleIfErrorMs) return cached
      throw error
    }
  }
  return authorize
}

export type Authorize = ReturnType<typeof createAuthorizationCache>

const anybody = { organization: '', user: '' }

/** Bounds look-ups: one limit for all unknown keys, since anybody can make them up, and one for each known user. */
const createLookupLimits = (maxKeyLookups: number, maxPerUser: number) => {
  const unknownKeys = new FairQueue({ seats: maxKeyLookups })
  const users = new KeyedConcurrencyLimit('user', maxPerUser)

  /** @returns the function that releases what is acquired. */
  return async (userId: string | undefined): Promise<() => void> => {
    if (userId === undefined) {
      const isFull = unknownKeys.waiting >= maxWaitingLookups
      const entry = isFull
        ? undefined
        : await waitForSeats(unknownKeys, anybody, { maxWaitMs: maxLookupWaitMs })
      if (!entry) throw tooManyWrongKeys(maxKeyLookups)
      return () => unknownKeys.leave(entry)
    }
    return acquireOrRejectLater(() => users.acquire(userId))
  }
}

/** The owner of a key, undefined for a key without cached entries. */
const userOf = (entries: Map<string, CachedCaller> | undefined): string | undefined =>
  entries?.values().next().value?.identity.userId

/** Ids in lower case, slugs as they are. A key has at most two entries for each of its user's organizations. */
const cacheKey = (organizationRef = '') =>
  isUuid(organizationRef) ? organizationRef.toLowerCase() : organizationRef

/** Sends authorize requests to organizations, under the gateway's own identity. */
export const createAuthorizeClient =
  (organizations: Upstream, token: () => string): AuthorizeClient =>
  async (request, requestId) => {
    const response = await organizations.request({
      method: 'POST',
      path: '/internal/authorize',
      headers: { 'content-type': 'application/json', 'x-request-id': requestId, [identityHeader]: token() },
      body: JSON.stringify(request),
      // The POST only reads.
      idempotent: true,
      headersTimeout: authorizeTimeoutMs,
      bodyTimeout: authorizeTimeoutMs,
    })
    const text = textOf(response)
    if (response.statusCode === 200) return AuthorizeResponse.parse(JSON.parse(text))
    if (response.statusCode === 401) return undefined
    throw new Error(`organizations responds to authorize with ${response.statusCode}`)
  }

/** Age up to which a token is reused, in milliseconds: half of its lifetime of a minute. */
const reuseMs = 30_000

/** Caches a token for 30 seconds of the wall clock, as in its claims: a clock that is set also leads to a new one. */
export const createCachedToken = (sign: () => string, now = Date.now): (() => string) => {
  let token = ''
  let signedAt = Number.NEGATIVE_INFINITY
  return () => {
    if (Math.abs(now() - signedAt) > reuseMs) {
      token = sign()
      signedAt = now()
    }
    return token
  }
}
