import { Gauge } from '@fms/service-kit'

/** Gauges that share one request to the store for `sharedMs` milliseconds. A failed one is not shared. */
export const sharedGauges = <S, R>(
  sharedMs: number,
  request: (source: S) => Promise<R>,
  labels: Record<string, string> = {},
) => {
  let latest: { atMs: number; result: Promise<R | undefined> } | undefined
  let watched: S | undefined
  /** The latest reading, or a new one. */
  const read = async (): Promise<R | undefined> => {
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
  }
  return {
    /** Adds a gauge. It has no value while nothing is watched, and if the store cannot be read. */
    gauge: (name: string, help: string, pick: (reading: R) => number) =>
      new Gauge({
        name,
        help: `${help}: the same value on every instance`,
        labelNames: Object.keys(labels),
        async collect() {
          const reading = await read()
          if (reading) this.set(labels, pick(reading))
          else this.remove(labels)
        },
      }),
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
