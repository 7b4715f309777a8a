/**
 * Reads a sequence page by page: no cursor and no transaction is open between two.
 *
 * @param readAfter the page after an item, or the first one; empty at the end.
 */
export async function* readInPages<T>(
  readAfter: (last: T | undefined) => readonly T[] | Promise<readonly T[]>,
): AsyncGenerator<T> {
  for (let page = await readAfter(undefined); page.length > 0; page = await readAfter(page.at(-1)))
    yield* page
}
