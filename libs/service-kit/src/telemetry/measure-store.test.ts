import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ApiError, ExpectedOutcome } from '@fms/aip'
import { register } from 'prom-client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { measureStore } from './measure-store.ts'

const silent = { error: () => {}, info: () => {} }

/** A store with private state, promises and a stream. */
class Shelf implements AsyncDisposable {
  readonly #things = new Map([['a', 1]])
  isOpen = true

  async get(name: string) {
    return this.#things.get(name)
  }

  async fail(error?: Error) {
    if (error) throw error
  }

  async *all() {
    yield* this.#things.keys()
  }

  async close() {
    this.isOpen = false
  }

  [Symbol.asyncDispose]() {
    return this.close()
  }
}

const value = async (name: string, labels: Record<string, string>) => {
  const metric = await register.getSingleMetric(name)!.get()
  return metric.values.find(
    ({ labels: each, metricName }: { labels: object; metricName?: string }) =>
      (metricName ?? name) === (name.endsWith('_seconds') ? `${name}_count` : name) &&
      Object.entries(labels).every(([key, value]) => each[key as keyof typeof each] === value),
  )?.value
}

it('a measured store works like the original and records the duration of each operation', async () => {
  const shelf = new Shelf()
  const measured = measureStore('things', 'mongodb+srv://somewhere/things', shelf, silent)
  const labels = { store: 'things', engine: 'mongodb', operation: 'get' }

  expect([await measured.get('a'), await measured.get('b')]).toEqual([1, undefined])
  expect(await Array.fromAsync(measured.all())).toEqual(['a'])

  expect(await value('store_operation_duration_seconds', labels)).toBe(2)
  await measured[Symbol.asyncDispose]()
  expect(shelf.isOpen).toBe(false)
})

it('measures the methods of a store without a class', async () => {
  const measured = measureStore(
    'plain things',
    'sqlite::memory:',
    { get: async () => 1, close: async () => {} },
    silent,
  )

  expect(await measured.get()).toBe(1)

  const labels = { store: 'plain things', operation: 'get' }
  expect(await value('store_operation_duration_seconds', labels)).toBe(1)
})

it('measures the methods that a store inherits', async () => {
  const measured = measureStore('inherited things', 'sqlite::memory:', new (class extends Shelf {})(), silent)

  expect(await measured.get('a')).toBe(1)

  const labels = { store: 'inherited things', operation: 'get' }
  expect(await value('store_operation_duration_seconds', labels)).toBe(1)
})

it('records the operations of a part of the store under the name of the part', async () => {
  const library = new (class {
    readonly shelf = new Shelf()
    async close() {}
  })()
  const measured = measureStore('library', 'sqlite::memory:', library, silent, ['shelf'])

  expect(await measured.shelf.get('a')).toBe(1)

  const labels = { store: 'library', operation: 'shelf.get' }
  expect(await value('store_operation_duration_seconds', labels)).toBe(1)
})

it('counts failures of the store, but not of the request', async () => {
  const measured = measureStore('failing', 'sqlite::memory:', new Shelf(), silent)
  const unavailable = new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'unavailable')
  const moved = new ApiError('FAILED_PRECONDITION', 'FORM_MOVED', 'moved')
  const replay = new (class extends ExpectedOutcome {})()
  const aborted = new DOMException('The caller left', 'AbortError')

  for (const error of [unavailable, unavailable, moved, replay, aborted, new TypeError('a defect')])
    await expect(measured.fail(error)).rejects.toBe(error)

  const labels = { store: 'failing', engine: 'sqlite', operation: 'fail' }
  const counted = (reason: string) => value('store_errors_total', { ...labels, reason })
  expect(await counted('STORE_UNAVAILABLE')).toBe(2)
  expect(await counted('INTERNAL')).toBe(1)
  expect(await counted('FORM_MOVED')).toBeUndefined()
})

it('reports the free space on the disk of an embedded store', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'measured-'))
  measureStore('embedded', `sqlite:${join(folder.path, 'things.db')}`, new Shelf(), silent)

  expect(await value('store_disk_free_bytes', { store: 'embedded' })).toBeGreaterThan(0)
})

describe('an outage', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const advice = 'MongoDB rejects its user or password.'
  const rejected = new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'unavailable', { advice })
  const measuredWith = () => {
    const logger = { error: vi.fn(), info: vi.fn() }
    const measured = measureStore('directory', 'sqlite::memory:', new Shelf(), logger)
    const fail = (error: Error) => expect(measured.fail(error)).rejects.toBe(error)
    return { ...logger, measured, fail }
  }

  it('is logged once, with the name of the variable, for each of its causes', async () => {
    const { error, fail } = measuredWith()

    await fail(rejected)
    await fail(rejected)
    expect(error.mock.calls).toEqual([
      [
        { store: 'directory', variable: 'DIRECTORY_STORE_URL', reason: 'STORE_UNAVAILABLE' },
        `the directory store (DIRECTORY_STORE_URL) is unavailable: ${advice}`,
      ],
    ])
    const cause = new Error('database is locked')
    await fail(new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'unavailable', { cause }))
    await fail(rejected)
    expect(error).toHaveBeenCalledTimes(2)
    vi.advanceTimersByTime(60_000)
    await fail(rejected)
    expect(error).toHaveBeenCalledTimes(3)
  })

  it('is logged with the message of its cause where there is no advice', async () => {
    const { error, fail } = measuredWith()
    const cause = new Error('database is locked')

    await fail(new ApiError('UNAVAILABLE', 'STORE_UNAVAILABLE', 'unavailable', { cause }))

    expect(error).toHaveBeenLastCalledWith(expect.anything(), expect.stringMatching(/: database is locked$/))
  })

  it('ends with a line when the operation that failed succeeds, 5 s after its last failure', async () => {
    const { error, info, measured, fail } = measuredWith()
    await fail(rejected)
    vi.advanceTimersByTime(4_000)
    await measured.fail()
    await fail(rejected)
    vi.advanceTimersByTime(5_000)
    await measured.get('a')
    expect(info).not.toHaveBeenCalled()

    await measured.fail()
    await measured.fail()

    expect(info.mock.calls).toEqual([[{ store: 'directory' }, 'the directory store is available again']])
    await fail(rejected)
    expect(error).toHaveBeenCalledTimes(2)
  })

  it('is not what a defect or an error of the request is', async () => {
    const { error, fail } = measuredWith()

    await fail(new TypeError('a defect'))
    await fail(new ApiError('NOT_FOUND', 'FORM_NOT_FOUND', 'not found'))

    expect(error).not.toHaveBeenCalled()
  })
})
