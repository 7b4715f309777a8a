/** Shares one request to the store among the gauges of a scrape, for `sharedMs`. A failed one is not shared. */
export const sharedReading = <S, R>(sharedMs: number, request: (source: S) => Promise<R>) => {
  let latest: { atMs: number; result: Promise<R | undefined> } | undefined
  let watched: S | undefined
  return {
    /** The latest reading, or a new one. Undefined while nothing is watched, and if the store cannot be read. */
    async read(): Promise<R | undefined> {
      if (!watched) return undefined
      const nowMs = performance.now()
      if (!latest || nowMs - latest.atMs > sharedMs) {
        const result = request(watched).catch(() => {
          latest = undefined
          return undefined
        })
        latest = { atMs: nowMs, result }
      }
      return latest.result
    },
    /** Reads `source` from now on. @returns a function that ends that. */
    watch(source: S): () => void {
      watched = source
      latest = undefined
      return () => {
        if (watched === source) watched = undefined
      }
    },
  }
}
