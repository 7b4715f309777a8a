import { ApiError } from './errors.ts'

/** A parsed `If-Match`: `*`, or strong tags without their quotes. Plain JSON, so that it can travel in a message. */
export type IfMatch = '*' | string[]

// entity-tag = [ "W/" ] DQUOTE *etagc DQUOTE
const entityTag = '(W/)?"([\\x21\\x23-\\x7e\\x80-\\xff]*)"'
const everyEntityTag = new RegExp(entityTag, 'g')
// #entity-tag, with the empty elements that RFC 9110 §5.6.1.2 has a recipient accept
const listOfEntityTags = `[ \\t,]*${entityTag}[ \\t]*(?:,[ \\t,]*${entityTag}[ \\t]*)*(?:,[ \\t,]*)?`
const entityTags = new RegExp(`^${listOfEntityTags}$`)

/** What {@link parseIfMatch} reads, as a pattern for JSON Schema. */
export const ifMatchPattern = `^(?:\\s*\\*\\s*|${listOfEntityTags})$`

const parseEntityTags = (list: string) =>
  entityTags.test(list)
    ? [...list.matchAll(everyEntityTag)].map(([, weak, tag]) => ({ weak: weak !== undefined, tag: tag! }))
    : undefined

const invalidIfMatch = () =>
  new ApiError(
    'INVALID_ARGUMENT',
    'INVALID_IF_MATCH',
    'If-Match takes * or a comma-separated list of tags in double quotes, such as "3-k9Qz". ' +
      'Send the ETag header of an earlier answer as it came, quotes included.',
  )

/**
 * The strong entity tag `"{version}-{rest}"`, quotes included (AIP-154, RFC 9110 §8.8.3).
 *
 * @param version the draft's version: what `If-Match` compares.
 * @param rest stands for everything else in the representation; printable ASCII without white space and `"`.
 */
export const formatETag = (version: number, rest: string): string => `"${version}-${rest}"`

/**
 * Read an `If-Match` header (RFC 9110 §13.1.1). Weak tags are left out, since they never match; a list of
 * nothing else is empty and holds for no version.
 *
 * @returns undefined when there is no such header.
 * @throws {ApiError} INVALID_IF_MATCH (400) for an unquoted tag, an empty list or any other malformed value.
 */
export const parseIfMatch = (header: string | undefined): IfMatch | undefined => {
  if (header === undefined) return undefined
  if (header.trim() === '*') return '*'
  const tags = parseEntityTags(header)
  if (!tags) throw invalidIfMatch()
  return tags.filter(({ weak }) => !weak).map(({ tag }) => tag)
}

/** Whether `If-Match` asks for this version. The rest of the tag is ignored: a reply makes no editor's tag stale. */
export const ifMatchVersionHolds = (condition: IfMatch, version: number): boolean =>
  condition === '*' || condition.some((tag) => tag.startsWith(`${version}-`))

/**
 * Whether the copy that `If-None-Match` names is current, so that a GET answers 304 (RFC 9110 §13.1.2).
 * Tags compare whole and weakly, `*` matches any; a malformed header is ignored.
 *
 * @param etag the current tag as `formatETag` writes it.
 */
export const ifNoneMatchHolds = (header: string | undefined, etag: string): boolean =>
  header?.trim() === '*' || (parseEntityTags(header ?? '')?.some(({ tag }) => `"${tag}"` === etag) ?? false)
