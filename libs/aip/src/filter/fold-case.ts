// Upper case and back joins what simple folding joins, but for these: a dotless i is no i, and the other three
// have a capital of several code points.
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
 * Take the case out of a text, so that two texts that differ in case alone become equal, by Unicode simple case
 * folding (CaseFolding.txt, status C and S) as in regular expressions with the flags `iu`. Every code point
 * stays one, `ς` equals `Σ`, `ß` equals `ẞ` but not `ss`, and no locale matters.
 *
 * Folding twice changes nothing. Characters that are unassigned today may fold once the platform knows a
 * later Unicode version: a store that keeps folded texts then folds those anew.
 */
export const foldCase = (text: string): string => text.replace(/[A-Z]|[^\0-\x7f]/gu, foldCodePoint)
