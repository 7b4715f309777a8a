import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ApiError, ExpectedOutcome } from '@fms/aip'
import type { FastifyBaseLogger } from 'fastify'
import { Counter, Gauge, Histogram } from './metrics.ts'
import { traceStoreCall } from './tracing.ts'

const duration = new Histogram({
  name: 'store_operation_duration_seconds',
  help: 'Duration of store calls by operation, including the wait for locks and for group commits',
  labelNames: ['store', 'engine', 'operation'],
  buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
})

const errors = new Counter({
  name: 'store_errors_total',
  help: 'Store calls that failed because the store was unavailable or not migrated, or by a defect (INTERNAL)',
  labelNames: ['store', 'engine', 'operation', 'reason'],
})

const files = new Map<string, string>()
new Gauge({
  name: 'store_disk_free_bytes',
  help: "Free space on the disk of an embedded store's file",
  labelNames: ['store'],
  async collect() {
    this.reset()
    for (const [store, path] of files) {
      const disk = await statfs(dirname(path)).catch(() => undefined)
      if (disk) this.set({ store }, disk.bavail * disk.bsize)
    }
  },
})

type OutageLogger = Pick<FastifyBaseLogger, 'error' | 'info'>

/** Methods that are not operations of the store. */
const unmeasured = new Set(['constructor', 'close'])

/**
 * Wraps a store: its operations get metrics and spans. Logs outages.
 *
 * @param name the label `store`; `{NAME}_STORE_URL` configures the store.
 * @param url its scheme is the label `engine`.
 * @param parts members with operations of their own, such as `events`, which become `events.read`.
 */
export const measureStore = <S extends object>(
  name: string,
  url: string,
  store: S,
  logger: OutageLogger,
  parts: readonly (keyof S & string)[] = [],
): S => {
  const outages = createOutageLog(name, logger)
  const engine = url.split(/[:+]/, 1)[0]!
  if (engine === 'sqlite' && url !== 'sqlite::memory:') files.set(name, url.slice('sqlite:'.length))
  const wrap = (part: object, prefix: string) =>
    wrapMethods(part, (method, call) =>
      measure({ store: name, engine, operation: `${prefix}${method}` }, call, outages),
    )
  const measured = wrap(store, '')
  for (const part of parts) measured[part] = wrap(store[part] as object, `${part}.`)
  measured[Symbol.asyncDispose] = () => measured.close()
  return measured
}

/** An object with the methods of another one, each of which runs in `around`. */
const wrapMethods = (target: object, around: (method: string, call: () => unknown) => unknown) => {
  const wrapped = Object.create(target)
  for (const name of methodNames(target)) {
    const method: unknown = target[name as keyof typeof target]
    if (typeof method !== 'function') continue
    wrapped[name] = unmeasured.has(name)
      ? method.bind(target)
      : (...args: unknown[]) => around(name, () => method.apply(target, args))
  }
  return wrapped
}

const methodNames = (object: object): Set<string> =>
  object === Object.prototype
    ? new Set()
    : methodNames(Object.getPrototypeOf(object)).union(new Set(Object.getOwnPropertyNames(object)))

const measure = (
  labels: Record<'store' | 'engine' | 'operation', string>,
  call: () => unknown,
  outages: ReturnType<typeof createOutageLog>,
): unknown => {
  const startedAt = performance.now()
  const observe = () => duration.observe(labels, (performance.now() - startedAt) / 1000)
  const result = traceStoreCall(labels.store, labels.engine, labels.operation, call)
  // The duration of a stream depends on its reader.
  if (result instanceof Promise)
    result.then(
      () => {
        observe()
        outages.onSuccess(labels.operation)
      },
      (error) => {
        observe()
        outages.onError(labels.operation, error)
        const reason = error instanceof ApiError ? error.reason : 'INTERNAL'
        if (isStoreError(error)) errors.inc({ ...labels, reason })
      },
    )
  return result
}

/** Other API errors, such as a missing resource, are no failures of the store, nor is the end of work for a caller who left. */
const isStoreError = (error: unknown) =>
  error instanceof ApiError
    ? error.status === 'UNAVAILABLE'
    : !(error instanceof ExpectedOutcome) && (error as Error).name !== 'AbortError'

/** How long a store works before its outage has ended, in milliseconds: on a full disk, some writes still find room. */
const recoveryMs = 5_000
/** How long after its last failure an outage is forgotten, in milliseconds, although its operation was not called again. */
const forgetMs = 60_000

/** Logs once that a store is unavailable, with cause and remedy, and once that the operation that failed last works again. */
const createOutageLog = (name: string, logger: OutageLogger) => {
  const variable = `${name.toUpperCase()}_STORE_URL`
  let outage: { causes: Set<string>; failedOperation: string; failedAtMs: number } | undefined
  return {
    onError(operation: string, error: unknown) {
      if (!(error instanceof ApiError) || error.status !== 'UNAVAILABLE') return
      const { advice, cause } = error.parts
      const why = advice ?? (cause instanceof Error ? cause.message : error.message)
      const failedAtMs = performance.now()
      const causes = outage && failedAtMs - outage.failedAtMs < forgetMs ? outage.causes : new Set<string>()
      outage = { causes, failedOperation: operation, failedAtMs }
      if (causes.has(why)) return
      causes.add(why)
      logger.error(
        { store: name, variable, reason: error.reason },
        `the ${name} store (${variable}) is unavailable: ${why}`,
      )
    },
    onSuccess(operation: string) {
      if (operation !== outage?.failedOperation || performance.now() - outage.failedAtMs < recoveryMs) return
      outage = undefined
      logger.info({ store: name }, `the ${name} store is available again`)
    },
  }
}
