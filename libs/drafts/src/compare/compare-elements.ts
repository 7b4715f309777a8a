import type { Json } from '@fms/aip'
import { below, type Compare, type Difference, type Place } from './compare-values.ts'

export interface Identified {
  elements: readonly Json[]
  ids: readonly string[]
}

/** @returns undefined if the value is no array, or one of its elements has no id. */
export const identify = (
  elements: Json | undefined,
  idOf: (element: Json) => string | undefined,
): Identified | undefined => {
  if (!Array.isArray(elements)) return undefined
  const ids = elements.map(idOf)
  return ids.every((id) => id !== undefined) ? { elements, ids } : undefined
}

/**
 * Compares two arrays, in O(n log n): first the removed elements in their former order, then the others in their later
 * order, each with a `MOVED` before the changes inside of it. As few as possible move. The n-th element with an id matches
 * the n-th one with this id.
 */
export function* compareElements(
  before: Identified,
  after: Identified,
  place: Place,
  compareElement: Compare,
): Generator<Difference> {
  const formerIndexes = indexesIn(before.ids, after.ids)
  const found = formerIndexes.filter((index) => index !== undefined)
  const remaining = new Set(found)
  for (const [index, element] of before.elements.entries())
    if (!remaining.has(index)) yield* compareElement(element, undefined, below(place, index, index))
  const staying = longestIncreasing(found)
  for (const [index, element] of after.elements.entries()) {
    const formerIndex = formerIndexes[index]
    const at = below(place, formerIndex ?? index, index)
    if (formerIndex === undefined) yield* compareElement(undefined, element, at)
    else {
      if (!staying.has(formerIndex)) yield { kind: 'MOVED', ...at }
      yield* compareElement(before.elements[formerIndex], element, at)
    }
  }
}

/** For each id, the index in `others` of an equal one; each index at most once. */
const indexesIn = (others: readonly string[], ids: readonly string[]): (number | undefined)[] => {
  /** By id, the first index that is left; by index, the next one with the same id. */
  const left = new Map<string, number | undefined>()
  const next = new Map<number, number>()
  for (let index = others.length - 1; index >= 0; index--) {
    const following = left.get(others[index]!)
    if (following !== undefined) next.set(index, following)
    left.set(others[index]!, index)
  }
  return ids.map((id) => {
    const index = left.get(id)
    if (index !== undefined) left.set(id, next.get(index))
    return index
  })
}

/** A longest subsequence of increasing numbers, which are all different, by patience sorting. */
const longestIncreasing = (items: readonly number[]): Set<number> => {
  /** By length of a subsequence, the position of the lowest number that ends one of that length. */
  const ends: number[] = []
  /** By position of a number, the position of the one before it in its subsequence. */
  const previous: (number | undefined)[] = []
  for (const [position, item] of items.entries()) {
    const length = firstWhere(ends, (end) => items[end]! >= item)
    previous.push(ends[length - 1])
    ends[length] = position
  }
  const found = new Set<number>()
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) found.add(items[at]!)
  return found
}

/** The first index at which the predicate holds; it holds for all later ones. The length if there is none. */
const firstWhere = (items: readonly number[], holds: (item: number) => boolean): number => {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
