import type { ReadMask } from './read-mask.ts'

/**
 * Cuts the JSON of a resource down to the members of a mask, in their order, without parsing it: one pass for each level
 * of nesting that the mask names, of 1 to 2 ms for 768 KiB. Members that the resource does not have are absent.
 *
 * @param json an object as `JSON.stringify` writes it, without white space.
 * @throws {Error} when the text ends within a value.
 */
export const cutJson = (json: string, mask: ReadMask): string => new Cutter(json).object(0, mask)

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Methods take the index of a value and move `#index` to the end of what they read. */
class Cutter {
  readonly #json: string
  #index = 0

  constructor(json: string) {
    this.#json = json
  }

  /** Cuts the object at `start`. Leaves `#index` anywhere in the object. */
  object(start: number, mask: ReadMask): string {
    const json = this.#json
    const members: string[] = []
    let found = 0
    for (let index = start + 1; found < mask.size && json.charCodeAt(index) === quote; ) {
      this.#skipString(index)
      const value = this.#index + 1
      const inner = mask.get(json.slice(index + 1, this.#index - 1))
      this.#skipValue(value)
      const end = this.#index
      if (inner !== undefined) {
        found++
        const isCut = inner !== 'whole' && json.charCodeAt(value) === openBrace
        members.push(isCut ? json.slice(index, value) + this.object(value, inner) : json.slice(index, end))
      }
      index = json.charCodeAt(end) === comma ? end + 1 : end
    }
    return `{${members.join(',')}}`
  }

  #skipValue(start: number): void {
    const first = this.#json.charCodeAt(start)
    if (first === quote) this.#skipString(start)
    else if (first === openBrace || first === openBracket) this.#skipNested(start)
    else this.#skipLiteral(start)
  }

  #skipString(start: number): void {
    const json = this.#json
    for (let index = start + 1; index < json.length; index++) {
      const code = json.charCodeAt(index)
      if (code === backslash) index++
      else if (code === quote) {
        this.#index = index + 1
        return
      }
    }
    throw endsEarly()
  }

  /** Skips an object or an array: to the bracket that closes it. */
  #skipNested(start: number): void {
    const json = this.#json
    let depth = 0
    for (let index = start; index < json.length; index++) {
      const code = json.charCodeAt(index)
      if (code === quote) {
        this.#skipString(index)
        index = this.#index - 1
      } else if (code === openBrace || code === openBracket) depth++
      else if ((code === closeBrace || code === closeBracket) && --depth === 0) {
        this.#index = index + 1
        return
      }
    }
    throw endsEarly()
  }

  #skipLiteral(start: number): void {
    const json = this.#json
    let index = start
    while (index < json.length && !isEndOfLiteral(json.charCodeAt(index))) index++
    this.#index = index
  }
}

const endsEarly = () => new Error('The JSON text ends within a value')

const isEndOfLiteral = (code: number) => code === comma || code === closeBrace || code === closeBracket
