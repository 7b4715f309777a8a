/**
 * Does `work` on each item, on so many at once. After a failure nothing new is begun; what is under way comes to its
 * end first, then the failure is thrown.
 */
export const eachAtOnce = async <T>(
  limit: number,
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const underWay = new Set<Promise<void>>()
  const failures: unknown[] = []
  const begin = (item: T) => {
    const task = work(item)
      .catch((error) => void failures.push(error))
      .finally(() => underWay.delete(task))
    underWay.add(task)
  }
  try {
    for await (const item of items) {
      begin(item)
      if (underWay.size >= limit) await Promise.race(underWay)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(underWay)
  }
  if (failures.length > 0) throw failures[0]
}
