/** Code points that stand side by side in an entry of the index. A shorter text has none. */
const length = 3

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

/** Up to `max` of them, from all over the list. */
export const spread = <T>(items: readonly T[], max: number): T[] => {
  const step = Math.max(1, items.length / max)
  return Array.from({ length: Math.min(items.length, max) }, (_, index) => items[Math.floor(index * step)]!)
}
