/**
 * Runs `work` on at most `limit` items at a time. After an error it starts none, waits for the others, and throws the
 * first.
 */
export const forEachConcurrently = async <T>(
  limit: number,
  items: AsyncIterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const inFlight = new Set<Promise<void>>()
  const failures: unknown[] = []
  const start = (item: T) => {
    const task = work(item)
      .catch((error) => void failures.push(error))
      .finally(() => inFlight.delete(task))
    inFlight.add(task)
  }
  try {
    for await (const item of items) {
      start(item)
      if (inFlight.size >= limit) await Promise.race(inFlight)
      if (failures.length > 0) break
    }
  } finally {
    await Promise.all(inFlight)
  }
  if (failures.length > 0) throw failures[0]
}
