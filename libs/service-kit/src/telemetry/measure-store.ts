import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError } from '@fms/aip'
import { Counter, Gauge, Histogram } from './metrics.ts'
import { traceStoreCall } from './tracing.ts'

const duration = new Histogram({
  name: 'store_operation_duration_seconds',
  help: 'Time of a call of a store, by its operation; waiting for a lock and for a shared commit included',
  labelNames: ['store', 'engine', 'operation'],
  buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
})

const errors = new Counter({
  name: 'store_errors_total',
  help: 'Calls of a store that failed by its fault: out of reach, not migrated, or a defect (INTERNAL)',
  labelNames: ['store', 'engine', 'operation', 'reason'],
})

const files = new Map<string, string>()
new Gauge({
  name: 'store_disk_free_bytes',
  help: "Space left on the disk of an embedded store's file",
  labelNames: ['store'],
  async collect() {
    this.reset()
    for (const [store, path] of files) {
      const disk = await statfs(dirname(path)).catch(() => undefined)
      if (disk) this.set({ store }, disk.bavail * disk.bsize)
    }
  },
})

/** What is left as it is: it ends the store, or is no call of the port. */
const unmeasured = new Set(['constructor', 'close'])

/**
 * The same store, with the time and the failures of each of its operations told in `/metrics`, and spans where there
 * are traces.
 *
 * @param name of the store, as metrics call it.
 * @param url where the store is: its scheme names the engine.
 */
export const measureStore = <S extends object>(name: string, url: string, store: S): S => {
  const engine = url.split(/[:+]/, 1)[0]!
  if (engine === 'sqlite' && url !== 'sqlite::memory:') files.set(name, url.slice('sqlite:'.length))
  const measured = Object.create(store)
  for (const operation of Object.getOwnPropertyNames(Object.getPrototypeOf(store))) {
    const method: unknown = store[operation as keyof S]
    if (typeof method !== 'function') continue
    measured[operation] = unmeasured.has(operation)
      ? method.bind(store)
      : (...args: unknown[]) => measure({ store: name, engine, operation }, () => method.apply(store, args))
  }
  measured[Symbol.asyncDispose] = () => measured.close()
  return measured
}

interface Labels {
  store: string
  engine: string
  operation: string
}

const measure = (labels: Labels, call: () => unknown): unknown => {
  const begun = performance.now()
  const observe = () => duration.observe(labels, (performance.now() - begun) / 1000)
  const result = traceStoreCall(labels.store, labels.engine, labels.operation, call)
  // What streams is as long as its reader takes.
  if (result instanceof Promise)
    result.then(observe, (error) => {
      observe()
      if (isOfTheStore(error)) errors.inc({ ...labels, reason: reasonOf(error) })
    })
  return result
}

/** What the caller's own check throws, and what is not there, is no failure of the store. */
const isOfTheStore = (error: unknown) => !(error instanceof ApiError) || error.status === 'UNAVAILABLE'

const reasonOf = (error: unknown) => (error instanceof ApiError ? error.reason : 'INTERNAL')
