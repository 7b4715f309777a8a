import { Worker } from 'node:worker_threads'
import { ApiError } from '@fms/aip'
import { storeUnavailable } from '@fms/store-kit'
import { listsOverloaded } from '../../errors.ts'
import type {
  FormSummary,
  ListedRevision,
  ListOptions,
  StoredForm,
  StoredRevision,
} from '../../forms-store.ts'
import type {
  PageQuery,
  Pages,
  ReaderData,
  ReaderRequest,
  ReaderResponse,
  SentItem,
  SentRevision,
} from './reader-messages.ts'

/** Concurrent pages: in total, per organization, and per caller. */
const maxSlots = 6
const maxSlotsPerOrganization = 4
const maxSlotsPerCaller = 2

/** Time limit for getting a slot, in milliseconds. Less than the gateway's timeout for a response. */
const slotTimeoutMs = 4_000

interface Read {
  id: number
  request: PageQuery
  items: unknown[]
  options: ListOptions
  resolve: (end: unknown) => void
  reject: (error: unknown) => void
}

/**
 * Reads pages in a worker thread, so that expensive lists do not block the event loop of the service. The thread starts
 * with the first page. A page occupies a slot while it is read, and then until its signal aborts: this bounds how many
 * pages of 4 MiB are in memory.
 */
export class Reader {
  readonly #data: ReaderData
  #worker: Worker | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Read>()
  readonly #running = new Map<number, Read>()
  /** Pages that are read and whose signal has not aborted. */
  readonly #held = new Set<Read>()
  #isClosed = false

  constructor(data: ReaderData) {
    this.#data = data
  }

  /**
   * Reads a page.
   *
   * @returns the items, and the rest of the page.
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
    const slotTimeout = setTimeout(() => this.#shed(id), slotTimeoutMs)
    signal?.addEventListener('abort', cancel, { once: true })
    try {
      const end = await new Promise<unknown>((resolve, reject) => {
        const request = { kind, query } as PageQuery
        this.#waiting.set(id, { id, request, items, options, resolve, reject })
        this.#startNext()
      })
      return { items: items as Pages[K]['item'][], end: end as Pages[K]['end'] }
    } finally {
      clearTimeout(slotTimeout)
      signal?.removeEventListener('abort', cancel)
    }
  }

  /** Holds the slot of a page until its signal aborts. */
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
      if (this.#running.size + this.#held.size >= maxSlots) return
      if (!this.#hasSlotFor(read)) continue
      this.#waiting.delete(read.id)
      this.#running.set(read.id, read)
      this.#send({ id: read.id, ...read.request })
    }
  }

  #hasSlotFor({ request, options }: Read): boolean {
    const occupying = [...this.#running.values(), ...this.#held]
    const { organizationId } = request.query
    const ofOrganization = occupying.filter((each) => each.request.query.organizationId === organizationId)
    const ofCaller = ofOrganization.filter((each) => each.options.caller === options.caller)
    return ofOrganization.length < maxSlotsPerOrganization && ofCaller.length < maxSlotsPerCaller
  }

  #shed(id: number): void {
    const read = this.#waiting.get(id)
    this.#waiting.delete(id)
    read?.reject(listsOverloaded())
  }

  /** A running page holds its slot until the thread stops reading it. */
  #cancel(id: number, reason: unknown): void {
    const read = this.#waiting.get(id) ?? this.#running.get(id)
    if (!this.#waiting.delete(id) && read) this.#send({ id, kind: 'cancel' })
    read?.reject(reason)
  }

  #send(request: ReaderRequest): void {
    this.#worker ??= this.#start()
    // A page in flight keeps the process alive; an idle thread does not.
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
      if (this.#worker === worker) this.#fail(new Error(`The reader thread exited with code ${code}`))
    })
    return worker
  }

  #receive(response: ReaderResponse): void {
    const read = this.#running.get(response.id)
    if (!read) return
    if ('items' in response) {
      for (const item of response.items) read.items.push(decodeItem(item as ReceivedItem))
      return
    }
    this.#running.delete(read.id)
    if ('end' in response) {
      this.#hold(read)
      read.resolve(response.end)
    } else if ('problem' in response) read.reject(ApiError.fromProblem(response.problem))
    else read.reject(new Error(response.failure))
    // Deferred: a port delivers consecutive messages in one turn of the event loop, which would chain page after page.
    setImmediate(() => this.#startNext())
    if (this.#running.size === 0) this.#worker?.unref()
  }

  /** Rejects the pages of a thread that ended. The next page starts another thread. */
  #fail(cause: Error): void {
    this.#worker = undefined
    const reads = [...this.#running.values(), ...(this.#isClosed ? this.#waiting.values() : [])]
    this.#running.clear()
    if (this.#isClosed) this.#waiting.clear()
    for (const { reject } of reads) reject(storeUnavailable(cause))
    if (!this.#isClosed) this.#startNext()
  }
}

type ReceivedItem = SentItem<StoredForm, 'draftJson'> | FormSummary | SentRevision

/** Adds the JSON text, which a getter decodes on demand. */
const decodeItem = (item: ReceivedItem): StoredForm | FormSummary | ListedRevision => {
  if ('revision' in item) return { ...item, revision: withText(item.revision, 'formJson') as StoredRevision }
  return 'jsonBytes' in item ? (withText(item, 'draftJson') as StoredForm) : item
}

const withText = (item: { jsonBytes: Uint8Array }, name: string): object =>
  Object.defineProperty(item, name, { get: () => decoder.decode(item.jsonBytes), enumerable: true })

const decoder = new TextDecoder()
