import type { ReasonMetadata } from '@fms/contracts'
import { apiError, invalidRequest } from '../errors.ts'
import { fieldPath } from '../field-violations.ts'

/** The position of a value in the text: UTF-16 code units, `end` exclusive. */
interface Span {
  start: number
  end: number
}

const forbiddenNames: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Maximum number of members of the outermost object: far more than any request has. */
const maxMembers = 1000

/** MALFORMED_JSON with another message than that for a syntax error. */
export const malformedJson = (what: string, metadata: ReasonMetadata<'MALFORMED_JSON'> = {}) =>
  apiError('MALFORMED_JSON', metadata, { message: `${what} Send the body as JSON in UTF-8 (RFC 8259).` })

/**
 * Scans well-formed Unicode as `parseJson` does, with its errors, but builds no value: one pass, up to the first error.
 * Returns the values of the members of the outermost object, by name.
 */
export const scanJson = (text: string, maxDepth: number): ReadonlyMap<string, Span> =>
  new JsonScanner(text, maxDepth).scan()

const quote = 0x22
const plus = 0x2b
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const zero = 0x30
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const letterE = 0x65
const letterU = 0x75
const openBrace = 0x7b
const closeBrace = 0x7d

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const isSimpleEscape = (code: number) => '"\\/bfnrt'.includes(String.fromCharCode(code))
const isHighSurrogate = (code: number) => (code & 0xfc00) === 0xd800
const isLowSurrogate = (code: number) => (code & 0xfc00) === 0xdc00

/** Numbers of up to this length without an exponent are finite doubles. */
const maxFiniteDigits = 300

/** Length of the longest spelling of a forbidden name: `constructor` with each letter escaped, in quotes. */
const maxForbiddenLength = 2 + 6 * 'constructor'.length

/** A recursive descent parser. Each method takes the index of its token and returns the index after the token. */
class JsonScanner {
  readonly #text: string
  readonly #maxDepth: number
  readonly #members = new Map<string, Span>()
  #depth = 0
  /** By level: the current index of an array, or -1 for an object; start and end of the current name of an object. */
  readonly #indexes: Int32Array
  readonly #nameStarts: Int32Array
  readonly #nameEnds: Int32Array
  /** About the last scanned string. */
  #hasEscapes = false
  #hasHalfPair = false

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
    this.#indexes = new Int32Array(maxDepth)
    this.#nameStarts = new Int32Array(maxDepth)
    this.#nameEnds = new Int32Array(maxDepth)
  }

  scan(): ReadonlyMap<string, Span> {
    const end = this.#space(this.#value(this.#space(0), 'a value'))
    if (end < this.#text.length) this.#fail(end, 'the end')
    return this.#members
  }

  #value(index: number, expected: string): number {
    const code = this.#text.charCodeAt(index)
    if (code === quote) {
      const end = this.#string(index, expected)
      if (this.#hasHalfPair) this.#reject('half a surrogate pair')
      return end
    }
    if (code === openBracket) return this.#array(index)
    if (code === openBrace) return this.#object(index)
    if (code === minus || isDigit(code)) return this.#number(index, expected)
    return this.#literal(index, expected)
  }

  #array(start: number): number {
    const level = this.#enter()
    let index = this.#space(start + 1)
    let expected = 'a value or ]'
    if (this.#text.charCodeAt(index) === closeBracket) return this.#leave(index)
    for (let item = 0; ; item++) {
      this.#indexes[level] = item
      index = this.#space(this.#value(index, expected))
      const code = this.#text.charCodeAt(index)
      if (code === closeBracket) return this.#leave(index)
      if (code !== comma) this.#fail(index, 'a comma or ]')
      index = this.#space(index + 1)
      expected = 'a value'
    }
  }

  #object(start: number): number {
    const level = this.#enter()
    this.#indexes[level] = -1
    let index = this.#space(start + 1)
    if (this.#text.charCodeAt(index) === closeBrace) return this.#leave(index)
    let expected = 'a name in double quotes or }'
    for (;;) {
      const value = this.#name(index, level, expected)
      const end = this.#value(value, 'a value')
      if (level === 0) this.#addMember(this.#nameAt(0), { start: value, end })
      index = this.#space(end)
      const code = this.#text.charCodeAt(index)
      if (code === closeBrace) return this.#leave(index)
      if (code !== comma) this.#fail(index, 'a comma or }')
      index = this.#space(index + 1)
      expected = 'a name in double quotes'
    }
  }

  #addMember(name: string, value: Span): void {
    if (this.#members.has(name)) violate([name], 'is given twice')
    if (this.#members.size === maxMembers) violate([], `must have at most ${maxMembers} members`)
    this.#members.set(name, value)
  }

  #enter(): number {
    if (this.#depth >= this.#maxDepth) this.#reject(`more than ${this.#maxDepth} levels of nesting`)
    // Until this level has an index or a name, the path of an error ends at the level above.
    return this.#depth++
  }

  #leave(index: number): number {
    this.#depth--
    return index + 1
  }

  /** Scans the name of a member and the colon, with white space. */
  #name(index: number, level: number, expected: string): number {
    if (this.#text.charCodeAt(index) !== quote) this.#fail(index, expected)
    const end = this.#string(index, expected)
    this.#nameStarts[level] = index
    this.#nameEnds[level] = end
    if (this.#hasHalfPair) this.#reject('half a surrogate pair')
    if (this.#isForbidden(index, end)) violate(this.#path(), 'is not an allowed name')
    const afterName = this.#space(end)
    if (this.#text.charCodeAt(afterName) !== colon) this.#fail(afterName, 'a colon')
    return this.#space(afterName + 1)
  }

  #isForbidden(start: number, end: number): boolean {
    if (end - start > maxForbiddenLength) return false
    if (this.#hasEscapes) return forbiddenNames.has(JSON.parse(this.#text.slice(start, end)))
    // Forbidden names begin with `_`, `c` or `p`.
    const first = this.#text.charCodeAt(start + 1)
    if (first !== 0x5f && first !== 0x63 && first !== 0x70) return false
    return forbiddenNames.has(this.#text.slice(start + 1, end - 1))
  }

  /** Reports an error in a string at the start of the string. */
  #string(start: number, expected: string): number {
    const text = this.#text
    this.#hasEscapes = false
    this.#hasHalfPair = false
    for (let index = start + 1; ; index++) {
      const code = text.charCodeAt(index)
      if (code === quote) return index + 1
      if (code === backslash) return this.#stringWithEscapes(start, index, expected)
      // Also true at the end of the text, where the code is NaN.
      if (!(code >= 0x20)) this.#fail(start, expected)
    }
  }

  #stringWithEscapes(start: number, firstEscape: number, expected: string): number {
    const text = this.#text
    this.#hasEscapes = true
    let followsHigh = false
    for (let index = firstEscape; ; ) {
      const code = text.charCodeAt(index)
      if (!(code >= 0x20)) this.#fail(start, expected)
      const escaped = code === backslash ? this.#escaped(index + 1) : 0
      if (escaped < 0) this.#fail(start, expected)
      if (isLowSurrogate(escaped) !== followsHigh) this.#hasHalfPair = true
      if (code === quote) return index + 1
      followsHigh = isHighSurrogate(escaped)
      if (code !== backslash) index++
      else index += text.charCodeAt(index + 1) === letterU ? 6 : 2
    }
  }

  /** The code unit of `uXXXX`, 0 for any other escape, -1 for an invalid escape. */
  #escaped(index: number): number {
    const code = this.#text.charCodeAt(index)
    if (code !== letterU) return isSimpleEscape(code) ? 0 : -1
    let value = 0
    for (let at = index + 1; at <= index + 4; at++) {
      const digit = hexDigit(this.#text.charCodeAt(at))
      if (digit < 0) return -1
      value = value * 16 + digit
    }
    return value
  }

  /** number = [ minus ] int [ frac ] [ exp ] */
  #number(start: number, expected: string): number {
    const text = this.#text
    let index = text.charCodeAt(start) === minus ? start + 1 : start
    if (!isDigit(text.charCodeAt(index))) this.#fail(start, expected)
    index = text.charCodeAt(index) === zero ? index + 1 : this.#digits(index)
    if (text.charCodeAt(index) === dot && isDigit(text.charCodeAt(index + 1))) index = this.#digits(index + 1)
    const end = this.#exponent(index)
    const mayBeInfinite = end > index || end - start > maxFiniteDigits
    if (mayBeInfinite && !Number.isFinite(Number(text.slice(start, end)))) {
      this.#reject('a number too large for a double')
    }
    return end
  }

  #exponent(index: number): number {
    if ((this.#text.charCodeAt(index) | 0x20) !== letterE) return index
    const sign = this.#text.charCodeAt(index + 1)
    const first = sign === plus || sign === minus ? index + 2 : index + 1
    return isDigit(this.#text.charCodeAt(first)) ? this.#digits(first) : index
  }

  #digits(start: number): number {
    let index = start
    while (isDigit(this.#text.charCodeAt(index))) index++
    return index
  }

  #literal(index: number, expected: string): number {
    const literal = ['true', 'false', 'null'].find((literal) => this.#text.startsWith(literal, index))
    return literal ? index + literal.length : this.#fail(index, expected)
  }

  #space(start: number): number {
    const text = this.#text
    let index = start
    let code = text.charCodeAt(index)
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = text.charCodeAt(++index)
    return index
  }

  #nameAt(level: number): string {
    return JSON.parse(this.#text.slice(this.#nameStarts[level], this.#nameEnds[level]))
  }

  #path(): PropertyKey[] {
    return Array.from(this.#indexes.subarray(0, this.#depth), (index, level) =>
      index < 0 ? this.#nameAt(level) : index,
    )
  }

  #reject(what: string): never {
    const field = fieldPath(this.#path())
    throw malformedJson(`The body has ${what} at ${field || 'its top'}.`, { field })
  }

  #fail(index: number, expected: string): never {
    const { line, column } = positionAt(this.#text, index)
    throw apiError('MALFORMED_JSON', { line: `${line}`, column: `${column}`, expected })
  }
}

const violate = (path: PropertyKey[], description: string): never => {
  throw invalidRequest([{ field: fieldPath(path), description }])
}

const hexDigit = (code: number): number => {
  if (isDigit(code)) return code - zero
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

/** Line and column of an index. Counts in a loop: an array of all lines or characters would need too much memory. */
const positionAt = (text: string, index: number) => {
  let line = 1
  let column = 1
  for (let at = 0; at < index; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x0a) {
      line++
      column = 1
    } else if (!isLowSurrogate(code)) column++
  }
  return { line, column }
}
