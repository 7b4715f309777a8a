// Upper case and back equals simple case folding except for these: a dotless i is not an i, and the upper case of the
// other three has several code points.
const exceptions = new Map([
  ['\u0131', '\u0131'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
])

const isSingle = (text: string) => text.length === String.fromCodePoint(text.codePointAt(0)!).length

const foldCodePoint = (character: string): string => {
  const upper = character.toUpperCase()
  const lower = (isSingle(upper) ? upper : character).toLowerCase()
  return exceptions.get(character) ?? (isSingle(lower) ? lower : character)
}

/**
 * Folds case by Unicode simple case folding (CaseFolding.txt, status C and S), as regular expressions with the flags `iu`
 * do: one code point to one, so `ς` equals `Σ`, and `ß` equals `ẞ` but not `ss`. Independent of the locale and
 * idempotent. A later Unicode version may fold characters that are unassigned today: fold stored texts again then.
 */
export const foldCase = (text: string): string => text.replace(/[A-Z]|[^\0-\x7f]/gu, foldCodePoint)
