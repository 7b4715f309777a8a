/** The end of a message about an unknown name: what was probably meant, if anything. */
export const suggestion = (meant: string | undefined): string =>
  meant === undefined ? '' : `: did you mean ${meant}?`

/** Longer words are no misspelt names. */
const maxLength = 64

/**
 * The candidate that a misspelt word most likely means: the nearest one, at most two edits away, and one for words of up to
 * four characters. Letter case, `-` and `_` do not count. A single letter means nothing.
 */
export const didYouMean = (word: string, candidates: Iterable<string>): string | undefined => {
  if (word.length > maxLength) return undefined
  const meant = plain(word)
  if (meant.length < 2) return undefined
  let nearest: string | undefined
  let least = meant.length > 4 ? 3 : 2
  for (const candidate of candidates) {
    const distance = editDistance(meant, plain(candidate))
    if (distance < least) [nearest, least] = [candidate, distance]
  }
  return nearest
}

const plain = (word: string) => word.toLowerCase().replaceAll(/[-_\s]/g, '')

/** The number of characters to insert, remove, replace or swap with their neighbour (optimal string alignment). */
const editDistance = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > 2) return Infinity
  let [before, last]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, index) => index)]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (isSame ? 0 : 1),
        isSwapped ? before[column - 2]! + 1 : Infinity,
      )
    }
    if (Math.min(...current, ...last) > 2) return Infinity
    ;[before, last] = [last, current]
  }
  return last[to.length]!
}
