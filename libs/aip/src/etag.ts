import { apiError } from './errors.ts'

/** A parsed `If-Match` header: `*`, or strong tags without their quotes. Plain JSON, for use in messages. */
export type IfMatch = '*' | string[]

// entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE
const entityTag = '(W/)?"([\\x21\\x23-\\x7e\\x80-\\xff]*)"'
const everyEntityTag = new RegExp(entityTag, 'g')
// #entity-tag, with the empty elements that a recipient accepts (RFC 9110 §5.6.1.2)
const listOfEntityTags = `[ \\t,]*${entityTag}[ \\t]*(?:,[ \\t,]*${entityTag}[ \\t]*)*(?:,[ \\t,]*)?`
const entityTags = new RegExp(`^${listOfEntityTags}$`)

/** The header values that {@link parseIfMatch} accepts, as a pattern for JSON Schema. */
export const ifMatchPattern = `^(?:\\s*\\*\\s*|${listOfEntityTags})$`

const parseEntityTags = (list: string) =>
  entityTags.test(list)
    ? [...list.matchAll(everyEntityTag)].map(([, weak, tag]) => ({ weak: weak !== undefined, tag: tag! }))
    : undefined

/**
 * Formats the strong entity tag `"{version}-{rest}"` (AIP-154, RFC 9110 §8.8.3): the version of the draft, which
 * `If-Match` compares, and the state of the other fields in printable ASCII without white space and `"`.
 */
export const formatETag = (version: number, rest: string): string => `"${version}-${rest}"`

/**
 * Parses an `If-Match` header (RFC 9110 §13.1.1). Omits weak tags, which never match; undefined without the header.
 *
 * @throws {ApiError} INVALID_IF_MATCH (400) for an unquoted tag, an empty list or any other malformed value.
 */
export const parseIfMatch = (header: string | undefined): IfMatch | undefined => {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  const tags = parseEntityTags(header)
  if (!tags) throw apiError('INVALID_IF_MATCH', {})
  return tags.filter(({ weak }) => !weak).map(({ tag }) => tag)
}

/** Whether `If-Match` holds for a draft version. Ignores the rest of the tag, which changes with each new reply. */
export const ifMatchVersionHolds = (condition: IfMatch, version: number): boolean =>
  condition === '*' || condition.some((tag) => tag.startsWith(`${version}-`))

/**
 * Whether `If-None-Match` names the current ETag, so that a GET responds with 304 (RFC 9110 §13.1.2). Weak comparison of
 * whole tags (§8.8.3.2); `*` matches any tag, a malformed header none.
 */
export const ifNoneMatchHolds = (header: string | undefined, etag: string): boolean =>
  header?.trim() === '*' || (parseEntityTags(header ?? '')?.some(({ tag }) => `"${tag}"` === etag) ?? false)
