import { ApiError, type FieldViolation, invalidRequest } from './errors.ts'
import { fieldPath } from './field-path.ts'
import type { Json } from './json.ts'
import { type JsonMember, JsonSyntaxFault, scanJson } from './scan-json.ts'

const defaultMaxDepth = 64
const maxViolations = 100

/** Far more members than any body has: of itself, not of what is inside. */
const maxMembers = 1000

const malformedJson = (what: string, metadata: Record<string, string> = {}) =>
  new ApiError('INVALID_ARGUMENT', 'MALFORMED_JSON', `${what} Send the body as JSON in UTF-8 (RFC 8259).`, {
    metadata,
  })

// Despite its name, ignoreBOM keeps a byte order mark in the text, where JSON.parse refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw malformedJson('The body is not valid UTF-8.')
  }
}

/**
 * Checks a body before anything is built of it.
 *
 * @returns the members of the outermost object.
 */
const check = (text: string, maxDepth: number): Map<string, JsonMember> => {
  const violations: FieldViolation[] = []
  const members = new Map<string, JsonMember>()
  const repeated = new Set<string>()

  const violate = (path: () => PropertyKey[], description: string) => {
    if (violations.length < maxViolations) violations.push({ field: fieldPath(path()), description })
  }
  const refuse = (what: string, path: PropertyKey[]): never => {
    const field = fieldPath(path)
    throw malformedJson(`The body has ${what} at ${field || 'its top'}.`, { field })
  }
  const member = (member: JsonMember) => {
    const { name } = member
    if (!members.has(name)) members.set(name, member)
    else if (!repeated.has(name)) {
      repeated.add(name)
      violate(() => [name], 'is given twice')
    }
    if (members.size > maxMembers) {
      throw invalidRequest([{ field: '', description: `must have at most ${maxMembers} members` }])
    }
  }

  const forbidden = (path: () => PropertyKey[]) => violate(path, 'this name is not allowed')
  scan(text, maxDepth, { refuse, forbidden, member })
  if (violations.length > 0) throw invalidRequest(violations)
  return members
}

const scan: typeof scanJson = (...args) => {
  try {
    scanJson(...args)
  } catch (error) {
    if (!(error instanceof JsonSyntaxFault)) throw error
    const { line, column, expected } = error.at
    throw malformedJson(`The body is not JSON: ${error.message}.`, {
      line: `${line}`,
      column: `${column}`,
      expected,
    })
  }
}

/**
 * Parse a request body as strict JSON (RFC 8259; Unicode and numbers as in I-JSON, RFC 7493 §2). Whether it is an
 * object is for the schema to say. The check is linear in time and stops at the first fault of the syntax.
 *
 * @throws {ApiError} MALFORMED_JSON (400) for invalid UTF-8, a byte order mark, a syntax error, half a surrogate
 *   pair, a number that no finite double holds, and more than 64 levels of nesting, or `maxDepth` where it is given
 *   (the body itself is the first).
 * @throws {ApiError} INVALID_REQUEST (400) with the path of each member called `__proto__`, `constructor` or
 *   `prototype`, and of each member of the body itself that is given twice, the first 100 of them; for a body with more
 *   than 1,000 members of its own.
 */
export const parseJson = (bytes: Uint8Array, maxDepth = defaultMaxDepth): unknown => {
  const text = decode(bytes)
  check(text, maxDepth)
  return JSON.parse(text)
}

/** A body whose objects and arrays are left as text. */
export interface JsonEnvelope {
  /** The body, with `{}` in place of each object that is a member of it, and `[]` in place of each array. */
  body: Json
  /** JSON texts of these objects and arrays, by the member's name. */
  nested: ReadonlyMap<string, string>
}

/**
 * Check a request body as {@link parseJson} does, and parse its own members alone. It takes a fraction of the time and
 * memory where objects inside are large: a few milliseconds for 1 MiB, whatever the body.
 *
 * @throws {ApiError} as {@link parseJson}.
 */
export const parseJsonEnvelope = (bytes: Uint8Array): JsonEnvelope => {
  const text = decode(bytes)
  const members = check(text, defaultMaxDepth)
  const start = text.search(/[^ \t\n\r]/)
  if (text[start] === '[') return { body: [], nested: new Map() }
  if (text[start] !== '{') return { body: JSON.parse(text), nested: new Map() }
  const nested = new Map<string, string>()
  const entries = Array.from(members.values(), ({ name, start, end }): [string, Json] => {
    const json = text.slice(start, end)
    if (json[0] !== '{' && json[0] !== '[') return [name, JSON.parse(json)]
    nested.set(name, json)
    return [name, json[0] === '{' ? {} : []]
  })
  return { body: Object.fromEntries(entries), nested }
}
