/** A page of a list ends early once it has this size. */
export const maxPageBytes = 4 * 1024 * 1024

/** The items of a page. `more`: whether items are left. */
export interface Taken<T> {
  taken: T[]
  more: boolean
}

/**
 * Takes the first `limit` items, or fewer once they have 4 MiB; at least one.
 *
 * @param items read lazily: at most one item beyond the page is loaded.
 */
export const takeUpTo = async <T>(
  limit: number,
  items: AsyncIterable<T>,
  bytesOf: (item: T) => number,
): Promise<Taken<T>> => {
  const taken: T[] = []
  let bytes = 0
  for await (const item of items) {
    if (taken.length === limit || bytes >= maxPageBytes) return { taken, more: true }
    taken.push(item)
    bytes += bytesOf(item)
  }
  return { taken, more: false }
}
