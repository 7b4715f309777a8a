/**
 * Runs `work` for each item, at most `limit` at a time. Runs it for all of them, even if it fails for some.
 *
 * @throws the first error, after the last item is done.
 */
export const forEachConcurrently = async <T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const rest = items.values()
  const errors: unknown[] = []
  const runNext = async () => {
    for (const item of rest) await work(item).catch((error: unknown) => errors.push(error))
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runNext))
  if (errors.length > 0) throw errors[0]
}
