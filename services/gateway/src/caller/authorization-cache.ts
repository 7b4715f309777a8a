import { type AuthorizeRequest, type AuthorizeResponse, type Identity, isUuid } from '@fms/contracts'
import { LRUCache } from 'lru-cache'
import { authenticationUnavailable, tooManyWrongKeys } from '../errors.ts'
import { ConcurrencyLimit } from '../limits/concurrency-limits.ts'
import { Semaphore } from '../limits/semaphore.ts'
import { createCachedToken } from './cached-token.ts'

/** How long an answer holds, from when its question was sent: a revoked key works no longer than that. */
const freshMs = 1_000
/** From then on it is asked anew behind the requests that it still serves. */
const refreshAfterMs = 750
/** How much longer it serves while organizations cannot be reached. */
const graceMs = 30_000
/** Keys that answers are kept for. */
const maxKeys = 10_000
/** Look-ups of unknown keys that may wait. */
const maxWaitingLookups = 1_000
/** How long one waits, in milliseconds. */
const maxLookupWaitMs = 2_000

/** Asks organizations; undefined when the key is good for nothing. Throws when there is no answer to be had. */
export type Ask = (question: AuthorizeRequest, requestId: string) => Promise<AuthorizeResponse | undefined>

/** Who sends a request, and the word for it that services take. */
export interface Caller {
  keyId: string
  identity: Identity
  token: () => string
}

interface Decision extends Caller {
  askedAt: number
}

export interface AuthorizationCacheOptions {
  ask: Ask
  sign: (identity: Identity) => string
  /** Milliseconds of a clock that is never put forward or back. */
  now: () => number
  /** Look-ups of unknown keys that may run at once. */
  maxKeyLookups?: number
  /** Look-ups of one user, whose key is known, for other organizations; 0 takes the limit away. */
  maxPerUser?: number
}

/**
 * Finds out whose key a request brought and what they are to an organization, from memory where that is fresh enough.
 * Only what lets somebody in is kept.
 *
 * @returns undefined for a key that is good for nothing; without `organizationId` where the caller is a stranger.
 * @throws {ApiError} AUTHENTICATION_UNAVAILABLE when organizations cannot be asked and nothing is known;
 *   TOO_MANY_WRONG_KEYS, TOO_MANY_AT_ONCE when too much is being looked up.
 */
export const createAuthorizationCache = ({
  ask,
  sign,
  now,
  maxKeyLookups = 64,
  maxPerUser = 64,
}: AuthorizationCacheOptions) => {
  const lookups = new Semaphore({
    max: maxKeyLookups,
    maxWaiting: maxWaitingLookups,
    maxWaitMs: maxLookupWaitMs,
  })
  const lookupsOfUsers = new ConcurrencyLimit('user', maxPerUser)
  const kept = new LRUCache<string, Map<string, Decision>>({ max: maxKeys })
  const underWay = new Map<string, { askedAt: number; decision: Promise<Decision | undefined> }>()
  /** Whether the last question had no answer: then nobody who is known waits for the next. */
  let isAway = false

  const decide = async (keyHash: string, organizationRef: string | undefined, requestId: string) => {
    const askedAt = now()
    const answer = await ask({ keyHash, organizationRef }, requestId)
    if (!answer) {
      kept.delete(keyHash)
      return undefined
    }
    const decisions = kept.get(keyHash) ?? new Map<string, Decision>()
    const caller = sameCaller(decisions.get(slotOf(organizationRef)), answer) ?? toCaller(answer, sign)
    const decision = { ...caller, askedAt }
    if (organizationRef !== undefined && !answer.organization) decisions.delete(slotOf(organizationRef))
    else kept.set(keyHash, decisions.set(slotOf(organizationRef), decision))
    return decision
  }

  /** One question at a time for the same thing; one that was sent too long ago answers nobody else. */
  const decideOnce = (keyHash: string, organizationRef: string | undefined, requestId: string) => {
    const question = `${keyHash} ${slotOf(organizationRef)}`
    const running = underWay.get(question)
    if (running && now() - running.askedAt < freshMs) return running.decision
    const asking = { askedAt: now(), decision: decide(keyHash, organizationRef, requestId) }
    underWay.set(question, asking)
    const done = (failed: boolean) => {
      isAway = failed
      if (underWay.get(question) === asking) underWay.delete(question)
    }
    asking.decision.then(
      () => done(false),
      () => done(true),
    )
    return asking.decision
  }

  /**
   * Bounds what is looked up at once: unknown keys together, since anybody can make them up, and what is known of a user
   * by user.
   *
   * @returns what ends it.
   */
  const admitLookup = async (keyHash: string): Promise<() => void> => {
    const userId = kept.get(keyHash)?.values().next().value?.identity.userId
    if (userId === undefined) {
      if (!(await lookups.acquire())) throw tooManyWrongKeys(maxKeyLookups)
      return () => lookups.release()
    }
    lookupsOfUsers.acquire(userId)
    return () => lookupsOfUsers.release(userId)
  }

  const authorize = async (
    keyHash: string,
    organizationRef: string | undefined,
    requestId: string,
  ): Promise<Caller | undefined> => {
    const known = kept.get(keyHash)?.get(slotOf(organizationRef))
    const age = known ? now() - known.askedAt : Number.POSITIVE_INFINITY
    if (age < (isAway ? freshMs + graceMs : freshMs)) {
      if (age >= refreshAfterMs) decideOnce(keyHash, organizationRef, requestId).catch(() => {})
      return known
    }
    const done = await admitLookup(keyHash)
    try {
      return await decideOnce(keyHash, organizationRef, requestId)
    } catch (cause) {
      if (age < freshMs + graceMs) return known
      throw authenticationUnavailable(cause)
    } finally {
      done()
    }
  }
  return authorize
}

export type Authorize = ReturnType<typeof createAuthorizationCache>

/** An id is the same in any letter case, so that a key has few slots: its user's organizations, by id and by slug. */
const slotOf = (organizationRef = '') =>
  isUuid(organizationRef) ? organizationRef.toLowerCase() : organizationRef

/** The caller of before, where nothing about it has changed: its token is signed, and services have verified it. */
const sameCaller = (
  before: Caller | undefined,
  { userId, keyId, readOnly, organization }: AuthorizeResponse,
): Caller | undefined => {
  if (!before) return undefined
  const { identity } = before
  const isSame =
    before.keyId === keyId &&
    identity.userId === userId &&
    identity.readOnly === readOnly &&
    identity.organizationId === organization?.organizationId &&
    identity.role === organization?.role
  return isSame ? before : undefined
}

const toCaller = (
  { userId, keyId, readOnly, organization }: AuthorizeResponse,
  sign: (identity: Identity) => string,
): Caller => {
  const identity = { userId, readOnly, ...organization }
  return { keyId, identity, token: createCachedToken(() => sign(identity)) }
}
