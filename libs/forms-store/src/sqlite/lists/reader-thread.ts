import { parentPort, workerData } from 'node:worker_threads'
import { ApiError } from '@fms/aip'
import { SqliteDatabase } from '@fms/store-kit'
import { filterTooExpensive } from '../../errors.ts'
import type { FormSummary, ListedRevision, StoredForm } from '../../forms-store.ts'
import { migrations } from '../schema.ts'
import { readForms } from './read-forms.ts'
import { readRevisions } from './read-revisions.ts'
import { readSummaries } from './read-summaries.ts'
import type {
  PageQuery,
  ReaderData,
  ReaderRequest,
  ReaderResponse,
  SentItem,
  SentRevision,
} from './reader-messages.ts'
import { type PageSteps, runInTurns } from './steps.ts'

/** Size of a message to the main thread, which handles each in one turn of its event loop. */
const messageLength = 128 * 1024

const { path, timeoutMs } = workerData as ReaderData
const port = parentPort!

/** Idle connections. Each page reads one snapshot of the file on a connection of its own. */
const idle: SqliteDatabase[] = []

/** Ids of cancelled pages. */
const cancelled = new Set<number>()

port.on('message', (request: ReaderRequest) => {
  if (request.kind === 'cancel') cancelled.add(request.id)
  else void respond(request.id, request)
})

const respond = async (id: number, request: PageQuery): Promise<void> => {
  try {
    send({ id, end: await readPage(id, request) })
  } catch (error) {
    if (error instanceof ApiError) send({ id, problem: error.toProblem() })
    else send({ id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    cancelled.delete(id)
  }
}

const readPage = async (id: number, request: PageQuery): Promise<unknown> => {
  const started = performance.now()
  const database = idle.pop() ?? new SqliteDatabase(path, migrations, { readOnly: true })
  const items = new ItemSender(id)
  try {
    using _ = database.openSnapshot()
    const end = await runInTurns(
      stepsOf(database, request),
      (item) => items.add(item),
      () => {
        if (cancelled.has(id)) throw new Error('The page is cancelled')
        if (performance.now() - started > timeoutMs) throw filterTooExpensive(timeoutMs)
      },
    )
    items.flush()
    return end
  } finally {
    idle.push(database)
  }
}

type Item = StoredForm | FormSummary | ListedRevision

const stepsOf = (database: SqliteDatabase, request: PageQuery): PageSteps<Item, unknown> => {
  switch (request.kind) {
    case 'forms':
      return readForms(database, request.query)
    case 'summaries':
      return readSummaries(database, request.query)
    case 'revisions':
      return readRevisions(database, request.query)
  }
}

/** Sends the items of a page to the main thread in batches. JSON is transferred as bytes, without a copy. */
class ItemSender {
  readonly #id: number
  #items: unknown[] = []
  #buffers: ArrayBuffer[] = []
  #length = 0

  constructor(id: number) {
    this.#id = id
  }

  add(item: Item): void {
    if ('draftJson' in item) this.#items.push(this.#form(item))
    else if ('revision' in item) this.#items.push(this.#revision(item))
    else this.#items.push(item)
    if (this.#length >= messageLength) this.flush()
  }

  flush(): void {
    send({ id: this.#id, items: this.#items }, this.#buffers)
    this.#items = []
    this.#buffers = []
    this.#length = 0
  }

  #form({ draftJson, ...form }: StoredForm): SentItem<StoredForm, 'draftJson'> {
    return { ...form, jsonBytes: this.#bytes(draftJson) }
  }

  #revision({ revision: { formJson, ...revision }, live }: ListedRevision): SentRevision {
    return { revision: { ...revision, jsonBytes: this.#bytes(formJson) }, live }
  }

  #bytes(json: string): Uint8Array<ArrayBuffer> {
    const bytes = encoder.encode(json)
    this.#buffers.push(bytes.buffer)
    this.#length += bytes.length
    return bytes
  }
}

const encoder = new TextEncoder()

const send = (response: ReaderResponse, buffers: ArrayBuffer[] = []): void =>
  port.postMessage(response, buffers)
