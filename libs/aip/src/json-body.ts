import { ApiError, type FieldViolation, invalidRequest } from './errors.ts'
import { fieldPath } from './field-path.ts'
import { findJsonSyntaxError } from './json-syntax.ts'

const defaultMaxDepth = 64
const maxViolations = 100
const forbiddenKeys = new Set<PropertyKey>(['__proto__', 'constructor', 'prototype'])

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

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const found = findJsonSyntaxError(text)
    if (!found) throw cause
    const { line, column, expected } = found
    throw malformedJson(`The body is not JSON: line ${line}, column ${column}: expected ${expected}.`, {
      line: `${line}`,
      column: `${column}`,
      expected,
    })
  }
}

/** What JSON.parse lets through and a request may not hold. */
const check = (body: unknown, maxDepth: number): void => {
  const violations: FieldViolation[] = []
  const path: PropertyKey[] = []

  const refuse = (what: string) => {
    const field = fieldPath(path)
    throw malformedJson(`The body has ${what} at ${field || 'its top'}.`, { field })
  }
  const checkText = (text: string) => {
    if (!text.isWellFormed()) refuse('half a surrogate pair')
  }
  const checkMember = (key: PropertyKey, member: unknown) => {
    path.push(key)
    if (typeof key === 'string') checkText(key)
    if (forbiddenKeys.has(key) && violations.length < maxViolations) {
      violations.push({ field: fieldPath(path), description: 'this name is not allowed' })
    }
    checkValue(member)
    path.pop()
  }
  const checkValue = (value: unknown) => {
    if (typeof value === 'string') checkText(value)
    else if (typeof value === 'number') {
      if (!Number.isFinite(value)) refuse('a number too large for a double')
    } else if (typeof value === 'object' && value !== null) {
      if (path.length >= maxDepth) refuse(`more than ${maxDepth} levels of nesting`)
      const members = Array.isArray(value) ? value.entries() : Object.entries(value)
      for (const [key, member] of members) checkMember(key, member)
    }
  }

  checkValue(body)
  if (violations.length > 0) throw invalidRequest(violations)
}

/**
 * Parse a request body as strict JSON (RFC 8259; Unicode and numbers as in I-JSON, RFC 7493 §2). Whether it is an
 * object is for the schema to say.
 *
 * @throws {ApiError} MALFORMED_JSON (400) for invalid UTF-8, a byte order mark, a syntax error, half a surrogate
 *   pair, a number that no finite double holds, and more than 64 levels of nesting, or `maxDepth` where it is given
 *   (the body itself is the first).
 * @throws {ApiError} INVALID_REQUEST (400) with the path of each member called `__proto__`, `constructor` or
 *   `prototype`, the first 100 of them.
 */
export const parseJson = (bytes: Uint8Array, maxDepth = defaultMaxDepth): unknown => {
  const body = parse(decode(bytes))
  check(body, maxDepth)
  return body
}
