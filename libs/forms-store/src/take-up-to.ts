/** A page of a list ends early once it holds this much. */
const maxPageBytes = 16 * 1024 * 1024

/**
 * The first `limit` items, or as many as 16 MiB hold; at least one.
 *
 * @param items lazily read, so that what does not fit is never loaded.
 * @returns `more` when items are left over.
 */
export const takeUpTo = <T>(
  limit: number,
  items: Iterable<T>,
  bytesOf: (item: T) => number,
): { taken: T[]; more: boolean } => {
  const taken: T[] = []
  let bytes = 0
  for (const item of items) {
    if (taken.length === limit || bytes >= maxPageBytes) return { taken, more: true }
    taken.push(item)
    bytes += bytesOf(item)
  }
  return { taken, more: false }
}
