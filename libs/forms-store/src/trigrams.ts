/** Code points that stand side by side in an entry of the index. A shorter text has none. */
const length = 3

/** Entries of one text that a search looks up: more find little less, and each is read by itself. */
const maxSearched = 12

/** The distinct runs of three code points in a text, in no order. */
export const trigramsOf = (foldedText: string): string[] => {
  const trigrams = new Set<string>()
  if (/[\ud800-\udfff]/.test(foldedText)) {
    const codePoints = Array.from(foldedText)
    for (let end = length; end <= codePoints.length; end++)
      trigrams.add(codePoints.slice(end - length, end).join(''))
  } else {
    for (let end = length; end <= foldedText.length; end++) trigrams.add(foldedText.slice(end - length, end))
  }
  return [...trigrams]
}

/** Up to twelve trigrams from all over the text; none where it has fewer than three code points. */
export const searchedTrigrams = (foldedText: string): string[] => {
  const trigrams = trigramsOf(foldedText)
  const step = Math.max(1, trigrams.length / maxSearched)
  const count = Math.min(trigrams.length, maxSearched)
  return Array.from({ length: count }, (_, index) => trigrams[Math.floor(index * step)]!)
}
