/** A page of a list ends early once it holds this much. */
export const maxPageBytes = 4 * 1024 * 1024

/** What was taken; `more` when items are left over. */
export interface Taken<T> {
  taken: T[]
  more: boolean
}

/**
 * The first `limit` items, or as many as 4 MiB hold; at least one.
 *
 * @param items lazily read, so that what does not fit is never loaded.
 */
export const takeUpToAsync = async <T>(
  limit: number,
  items: AsyncIterable<T>,
  bytesOf: (item: T) => number,
): Promise<Taken<T>> => {
  const page = new Page(limit, bytesOf)
  for await (const item of items) if (!page.takes(item)) return { taken: page.taken, more: true }
  return { taken: page.taken, more: false }
}

class Page<T> {
  readonly taken: T[] = []
  readonly #limit: number
  readonly #bytesOf: (item: T) => number
  #bytes = 0

  constructor(limit: number, bytesOf: (item: T) => number) {
    this.#limit = limit
    this.#bytesOf = bytesOf
  }

  /** @returns false, and leaves the item out, once the page is full. */
  takes(item: T): boolean {
    if (this.taken.length === this.#limit || this.#bytes >= maxPageBytes) return false
    this.taken.push(item)
    this.#bytes += this.#bytesOf(item)
    return true
  }
}
