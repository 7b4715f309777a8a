import type { Json } from './json.ts'
import { malformedJson, scanJson } from './scan-json.ts'

const defaultMaxDepth = 64

// Despite its name, ignoreBOM keeps a byte order mark in the text, where the scan rejects it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformedJson('The body is not valid UTF-8.')
  }
}

/**
 * Parses a request body as strict JSON (RFC 8259; Unicode and numbers as in I-JSON, RFC 7493 §2). The result may be
 * any JSON value. Linear in time; stops at the first error.
 *
 * @param maxDepth maximum levels of nesting, the body itself included; default 64.
 * @throws {ApiError} MALFORMED_JSON (400) for invalid UTF-8, a byte order mark, a syntax error, half a surrogate
 *   pair, a number outside the range of a finite double, and more than `maxDepth` levels.
 * @throws {ApiError} INVALID_REQUEST (400) with the path of a member that is called `__proto__`, `constructor` or
 *   `prototype` at any depth, or is repeated in the body itself; and for a body with more than 1,000 members.
 */
export const parseJson = (bytes: Uint8Array, maxDepth = defaultMaxDepth): unknown => {
  const text = decode(bytes)
  scanJson(text, maxDepth)
  return JSON.parse(text)
}

/** A request body whose nested objects and arrays are not parsed. */
export interface ShallowJson {
  /** The body, with `{}` in place of each member that is an object and `[]` in place of each array. */
  body: Json
  /** JSON texts of these objects and arrays, by member name. */
  nested: ReadonlyMap<string, string>
}

/** Checks a body as {@link parseJson} does, with its errors, but parses only scalar members: a few ms for 1 MiB. */
export const parseShallowJson = (bytes: Uint8Array): ShallowJson => {
  const text = decode(bytes)
  const members = scanJson(text, defaultMaxDepth)
  const start = text.search(/[^ \t\n\r]/)
  if (text[start] === '[') return { body: [], nested: new Map() }
  if (text[start] !== '{') return { body: JSON.parse(text), nested: new Map() }
  const nested = new Map<string, string>()
  const entries = Array.from(members, ([name, { start, end }]): [string, Json] => {
    const json = text.slice(start, end)
    if (json[0] !== '{' && json[0] !== '[') return [name, JSON.parse(json)]
    nested.set(name, json)
    return [name, json[0] === '{' ? {} : []]
  })
  return { body: Object.fromEntries(entries), nested }
}
