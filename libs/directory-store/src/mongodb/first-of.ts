/** The first `limit` items of an iterable, which is left after them. */
export const firstOf = async <T>(limit: number, items: AsyncIterable<T>): Promise<T[]> => {
  const first: T[] = []
  for await (const item of items) {
    first.push(item)
    if (first.length === limit) break
  }
  return first
}
