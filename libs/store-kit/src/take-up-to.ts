/** A page of a list ends early once it has this size. */
export const maxPageBytes = 4 * 1024 * 1024

/** Takes at least one item, and loads at most one beyond the page. @returns `more`: whether items are left. */
export const takeUpTo = async <T>(
  limit: number,
  items: AsyncIterable<T>,
  bytesOf: (item: T) => number = () => 0,
): Promise<{ taken: T[]; more: boolean }> => {
  const taken: T[] = []
  let bytes = 0
  for await (const item of items) {
    if (taken.length === limit || bytes >= maxPageBytes) return { taken, more: true }
    taken.push(item)
    bytes += bytesOf(item)
  }
  return { taken, more: false }
}
