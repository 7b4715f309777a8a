/** How the elements of one array became those of another. */
export interface Match {
  /** Indexes in the former array of the elements that are in it alone. */
  removed: number[]
  /** For each element of the later array, its former index; undefined if it is new. */
  formerIndexes: (number | undefined)[]
  /** Indexes in the later array of the elements that have moved: as few as possible. */
  moved: Set<number>
}

/**
 * Matches the elements of two arrays by their ids. The n-th element with an id matches the n-th one with this id.
 * Exchanging the arrays gives the same pairs, and the same pairs have moved.
 */
export const matchElements = (formerIds: readonly string[], laterIds: readonly string[]): Match => {
  const former = numbered(formerIds)
  const later = numbered(laterIds)
  const formerIndexOf = new Map(former.map((id, index) => [id, index]))
  const laterIndexOf = new Map(later.map((id, index) => [id, index]))
  const staying = longestCommonOrder(
    former.filter((id) => laterIndexOf.has(id)),
    later.filter((id) => formerIndexOf.has(id)),
  )
  const isMoved = (id: string) => formerIndexOf.has(id) && !staying.has(id)
  return {
    removed: [...former.keys()].filter((index) => !laterIndexOf.has(former[index]!)),
    formerIndexes: later.map((id) => formerIndexOf.get(id)),
    moved: new Set([...later.keys()].filter((index) => isMoved(later[index]!))),
  }
}

/** Makes ids unique: adds how many equal ones precede each. */
const numbered = (ids: readonly string[]): string[] => {
  const counts = new Map<string, number>()
  return ids.map((id) => {
    const count = counts.get(id) ?? 0
    counts.set(id, count + 1)
    return `${count} ${id}`
  })
}

/**
 * The most ids that have the same order in two arrays of the same ids. If there are several such sets, the choice does not
 * depend on which array comes first.
 */
const longestCommonOrder = (ids: string[], others: string[]): Set<string> => {
  const difference = ids.findIndex((id, index) => id !== others[index])
  if (difference < 0) return new Set(ids)
  const [first, second] = ids[difference]! < others[difference]! ? [ids, others] : [others, ids]
  const position = new Map(second.map((id, index) => [id, index]))
  const increasing = longestIncreasing(first.map((id) => position.get(id)!))
  return new Set(increasing.map((index) => first[index]!))
}

/**
 * Indexes of a longest increasing subsequence of distinct numbers, last first, in O(n log n)
 * (patience sorting: https://en.wikipedia.org/wiki/Longest_increasing_subsequence).
 */
const longestIncreasing = (values: readonly number[]): number[] => {
  /** By length of a subsequence: the index of the smallest value that ends one of that length. */
  const ends: number[] = []
  /** By index of a value: the index of the one before it in its subsequence. */
  const previous: (number | undefined)[] = []
  for (const [index, value] of values.entries()) {
    const length = firstAtLeast(ends, (end) => values[end]! >= value)
    previous.push(ends[length - 1])
    ends[length] = index
  }
  const found: number[] = []
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) found.push(index)
  return found
}

/** The first position at which the predicate, which stays true once it is, holds. */
const firstAtLeast = (items: readonly number[], holds: (item: number) => boolean): number => {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(items[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
