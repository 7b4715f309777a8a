import { type CheckedFilter, foldCase } from '@fms/aip'

/** Code points of a trigram. A shorter text has none. */
const length = 3

/** The distinct trigrams of a text, in no particular order. */
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

/** The conditions that every match of a filter meets: the operands of its outermost AND, or the filter itself. */
export const conjunctsOf = (filter: CheckedFilter): CheckedFilter[] =>
  filter.kind === 'and' ? filter.operands.flatMap(conjunctsOf) : [filter]

/** Trigrams that the case-folded name of every match of a filter contains. */
export const requiredTrigrams = (filter: CheckedFilter): string[] => [
  ...new Set(conjunctsOf(filter).flatMap(requiredTexts).flatMap(trigramsOf)),
]

/** Texts that the case-folded name has to contain. Case folding maps each code point to one code point. */
const requiredTexts = (node: CheckedFilter): string[] => {
  if (node.kind === 'search') return [node.text]
  if (node.kind === 'contains' && node.field === 'name') return [foldCase(node.text)]
  if (node.kind === 'match' && node.field === 'name') return node.parts.map(foldCase)
  return []
}

/** Up to `max` items, evenly spaced over the list. */
export const spread = <T>(items: readonly T[], max: number): T[] => {
  const step = Math.max(1, items.length / max)
  return Array.from({ length: Math.min(items.length, max) }, (_, index) => items[Math.floor(index * step)]!)
}
