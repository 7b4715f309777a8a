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
 * Compares two arrays whose elements are matched by id: first the removed elements in their former order, then the others
 * in their later order, each with a `MOVED` before the changes inside of it.
 */
export function* compareElements(
  before: Identified,
  after: Identified,
  place: Place,
  compareElement: Compare,
): Generator<Difference> {
  const { removed, formerIndexes, staying } = matchElements(before.ids, after.ids)
  for (const index of removed) {
    yield* compareElement(before.elements[index], undefined, below(place, index, index))
  }
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

/** How the elements of one array became those of another. */
export interface Match {
  /** For each element of the later array, its index in the former one; undefined if it is new. */
  formerIndexes: (number | undefined)[]
  /** Indexes in the former array of the elements that are in it alone. */
  removed: number[]
  /** Indexes in the former array of the elements that keep their order: as many as possible, so that few move. */
  staying: Set<number>
}

/**
 * Matches the elements of two arrays by their ids, in O(n log n). The n-th element with an id matches the n-th one with
 * this id. Exchanging the arrays gives the same pairs, and the same pairs stay.
 */
const matchElements = (formerIds: readonly string[], laterIds: readonly string[]): Match => {
  const formerIndexes = indexesIn(formerIds, laterIds)
  const laterIndexes: (number | undefined)[] = formerIds.map(() => undefined)
  for (const [later, former] of formerIndexes.entries())
    if (former !== undefined) laterIndexes[former] = later

  const inFormerOrder = [...formerIds.keys()].filter((former) => laterIndexes[former] !== undefined)
  const inLaterOrder = formerIndexes.filter((former) => former !== undefined)
  return {
    formerIndexes,
    removed: [...formerIds.keys()].filter((former) => laterIndexes[former] === undefined),
    staying: isFirst(inFormerOrder, inLaterOrder, formerIds)
      ? new Set(longestIncreasing(inFormerOrder, (former) => laterIndexes[former]!))
      : new Set(longestIncreasing(inLaterOrder, (former) => former)),
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

/**
 * Whether the first of two orders of the same elements precedes the other. If several choices of moved elements are equally
 * small, the search in the preceding order makes the choice independent of which array is the former one.
 */
const isFirst = (order: readonly number[], other: readonly number[], ids: readonly string[]): boolean => {
  const position = order.findIndex((index, at) => ids[index] !== ids[other[at]!])
  return position < 0 || ids[order[position]!]! < ids[other[position]!]!
}

/** A longest subsequence of items with increasing, distinct ranks, last item first, by patience sorting. */
const longestIncreasing = (items: readonly number[], rankOf: (item: number) => number): number[] => {
  /** By length of a subsequence, the position of the item of the lowest rank that ends one of that length. */
  const ends: number[] = []
  /** By position of an item, the position of the one before it in its subsequence. */
  const previous: (number | undefined)[] = []
  for (const [position, item] of items.entries()) {
    const length = firstWhere(ends, (end) => rankOf(items[end]!) >= rankOf(item))
    previous.push(ends[length - 1])
    ends[length] = position
  }
  const found: number[] = []
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) found.push(items[at]!)
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
