import { Worker } from 'node:worker_threads'
import { ApiError } from '@fms/aip'
import { storeUnavailable } from '@fms/store-kit'
import { listsOverloaded } from '../../errors.ts'
import type { ListedRevision, ListOptions, StoredForm, StoredRevision } from '../../forms-store.ts'
import type {
  PageQuery,
  Pages,
  ReaderData,
  ReaderRequest,
  ReaderResponse,
  Sent,
  SentRevision,
} from './reader-messages.ts'

/** Pages that have a place at once, those of one organization and of one caller: its own leave room for others. */
const maxPlaces = 6
const maxOfOrganization = 4
const maxOfCaller = 2

/** How long a page waits for its place, in milliseconds; less than a gateway waits for a response. */
const maxWaitMs = 4_000

interface Read {
  id: number
  request: PageQuery
  items: unknown[]
  options: ListOptions
  resolve: (end: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Reads pages in a thread of their own, so that however many rows one looks at, the event loop of the service goes on.
 * The thread begins with the first page. A page has a place while it is read, and then until its signal aborts: that
 * bounds how many pages of 4 MiB are in memory.
 */
export class Reader {
  readonly #data: ReaderData
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Read>()
  readonly #running = new Map<number, Read>()
  /** Pages that are read and still needed. */
  readonly #held = new Set<Read>()
  #isClosed = false

  constructor(data: ReaderData) {
    this.#data = data
  }

  /**
   * @returns undefined for an end that is undefined.
   * @throws {ApiError} FILTER_TOO_EXPENSIVE, OVERLOADED, STORE_UNAVAILABLE; the signal's reason.
   */
  async read<K extends keyof Pages>(
    kind: K,
    query: Pages[K]['query'],
    options: ListOptions = {},
  ): Promise<{ items: Pages[K]['item'][]; end: Pages[K]['end'] }> {
    const { signal } = options
    signal?.throwIfAborted()
    if (this.#isClosed) throw storeUnavailable(new Error('The store is closed'))
    const id = ++this.#lastId
    const items: unknown[] = []
    const cancel = () => this.#cancel(id, signal?.reason)
    const overdue = setTimeout(() => this.#refuse(id), maxWaitMs)
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      const end = await new Promise<unknown>((resolve, reject) => {
        const request = { kind, query } as PageQuery
        this.#waiting.set(id, { id, request, items, options, resolve, reject })
        this.#startNext()
      })
      return { items: items as Pages[K]['item'][], end: end as Pages[K]['end'] }
    } finally {
      clearTimeout(overdue)
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Keeps the place of a page that is read until it is no longer needed. */
  #hold(read: Read): void {
    const { signal } = read.options
    if (!signal || signal.aborted) return
    this.#held.add(read)
    const release = () => {
      this.#held.delete(read)
      this.#startNext()
    }
    signal.addEventListener('abort', release, { once: true })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
    this.#fail(new Error('The store is closed'))
  }

  #startNext(): void {
    for (const read of this.#waiting.values()) {
      if (this.#running.size + this.#held.size >= maxPlaces) return
      if (!this.#hasPlaceFor(read)) continue
      this.#waiting.delete(read.id)
      this.#running.set(read.id, read)
      this.#send({ id: read.id, ...read.request })
    }
  }

  #hasPlaceFor({ request, options }: Read): boolean {
    const placed = [...this.#running.values(), ...this.#held]
    const { organizationId } = request.query
    const ofOrganization = placed.filter((each) => each.request.query.organizationId === organizationId)
    const ofCaller = ofOrganization.filter((each) => each.options.caller === options.caller)
    return ofOrganization.length < maxOfOrganization && ofCaller.length < maxOfCaller
  }

  #refuse(id: number): void {
    const read = this.#waiting.get(id)
    this.#waiting.delete(id)
    read?.reject(listsOverloaded())
  }

  /** One that runs keeps its place until the thread has left it. */
  #cancel(id: number, reason: unknown): void {
    const read = this.#waiting.get(id) ?? this.#running.get(id)
    if (!this.#waiting.delete(id) && read) this.#send({ id, kind: 'cancel' })
    read?.reject(reason)
  }

  #send(request: ReaderRequest): void {
    this.#worker ??= this.#start()
    // A page that is read keeps the process up; a thread that has nothing to do does not.
    this.#worker.ref()
    this.#worker.postMessage(request)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./reader-thread.ts', import.meta.url), {
      name: 'forms-reader',
      workerData: this.#data,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
    })
    worker.on('message', (response: ReaderResponse) => this.#receive(response))
    worker.on('error', (error) => this.#fail(error as Error))
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#fail(new Error(`The reader thread ended with code ${code}`))
    })
    return worker
  }

  #receive(response: ReaderResponse): void {
    const read = this.#running.get(response.id)
    if (!read) return
    if ('items' in response) {
      for (const item of response.items) read.items.push(received(item as ReceivedItem))
      return
    }
    this.#running.delete(read.id)
    if ('end' in response) {
      this.#hold(read)
      read.resolve(response.end)
    } else if ('problem' in response) read.reject(ApiError.fromProblem(response.problem))
    else read.reject(new Error(response.failure))
    // In another turn: a port receives all messages that follow each other closely in one, and so page after page.
    setImmediate(() => this.#startNext())
    if (this.#running.size === 0) this.#worker?.unref()
  }

  /** The thread is gone, and with it whatever it read. The next page begins another. */
  #fail(cause: Error): void {
    this.#worker = undefined
    const reads = [...this.#running.values(), ...(this.#isClosed ? this.#waiting.values() : [])]
    this.#running.clear()
    if (this.#isClosed) this.#waiting.clear()
    for (const { reject } of reads) reject(storeUnavailable(cause))
    if (!this.#isClosed) this.#startNext()
  }
}

type ReceivedItem = Sent<StoredForm, 'draftJson'> | SentRevision

/** The item with its text, which is made of the bytes when it is read. */
const received = (item: ReceivedItem): StoredForm | ListedRevision =>
  'revision' in item
    ? { ...item, revision: withText(item.revision, 'formJson') as StoredRevision }
    : (withText(item, 'draftJson') as StoredForm)

const withText = (item: { jsonBytes: Uint8Array }, name: string): object =>
  Object.defineProperty(item, name, { get: () => decoder.decode(item.jsonBytes), enumerable: true })

const decoder = new TextDecoder()
