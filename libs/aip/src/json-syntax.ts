/** Where a text stops being JSON, and what could have stood there. */
export interface JsonSyntaxError {
  /** From 1. */
  line: number
  /** Code points, from 1. */
  column: number
  expected: string
}

const string = String.raw`"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"`
const number = String.raw`-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`
const value = `[{[]|true|false|null|${number}|${string}`

/** RFC 8259 as the tokens that may come next. */
const tokens = {
  'a value': new RegExp(value, 'y'),
  'a value or ]': new RegExp(`${value}|]`, 'y'),
  'a name in double quotes': new RegExp(string, 'y'),
  'a name in double quotes or }': new RegExp(`${string}|}`, 'y'),
  'a colon': /:/y,
  'a comma or ]': /[,\]]/y,
  'a comma or }': /[,}]/y,
  'the end': /(?!)/y,
}

const whiteSpace = /[ \t\n\r]*/y

/**
 * Find the first token of a text that keeps it from being JSON (RFC 8259). JSON.parse tells no position for most
 * mistakes, and quotes the text.
 *
 * @returns undefined when the text is JSON.
 */
export const findJsonSyntaxError = (text: string): JsonSyntaxError | undefined => {
  const closers: ('}' | ']')[] = []
  let expected: keyof typeof tokens = 'a value'
  let index = 0
  const take = (pattern: RegExp) => {
    pattern.lastIndex = index
    const token = pattern.exec(text)?.[0]
    index += token?.length ?? 0
    return token
  }

  for (;;) {
    take(whiteSpace)
    const token = take(tokens[expected])
    if (token === undefined) break
    const named = expected.startsWith('a name') && token !== '}'
    if (token === '}' || token === ']') closers.pop()
    if (token === '{') closers.push('}')
    if (token === '[') closers.push(']')
    const closer = closers.at(-1)

    if (named) expected = 'a colon'
    else if (token === ':') expected = 'a value'
    else if (token === '{') expected = 'a name in double quotes or }'
    else if (token === '[') expected = 'a value or ]'
    else if (token === ',') expected = closer === '}' ? 'a name in double quotes' : 'a value'
    else expected = closer ? `a comma or ${closer}` : 'the end'
  }

  if (expected === 'the end' && index === text.length) return undefined
  const lines = text.slice(0, index).split('\n')
  return { line: lines.length, column: [...lines.at(-1)!].length + 1, expected }
}
