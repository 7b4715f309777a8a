import { parentPort, workerData } from 'node:worker_threads'
import { ApiError } from '@fms/aip'
import { SqliteDatabase } from '@fms/store-kit'
import { filterTooExpensive } from '../../errors.ts'
import type { ListedRevision, StoredForm } from '../../forms-store.ts'
import { migrations } from '../schema.ts'
import { readForms } from './read-forms.ts'
import { readRevisions } from './read-revisions.ts'
import type {
  PageQuery,
  ReaderData,
  ReaderRequest,
  ReaderResponse,
  Sent,
  SentRevision,
} from './reader-messages.ts'
import { type PageSteps, runInTurns } from './steps.ts'

/** Bytes that go to the main thread in one message, which reads it in one go. */
const chunkLength = 128 * 1024

const { path, timeoutMs } = workerData as ReaderData
const port = parentPort!

/** Connections that read nothing: each page has one to itself, for one state of the file. */
const idle: SqliteDatabase[] = []

/** Pages that nobody waits for. */
const cancelled = new Set<number>()

port.on('message', (request: ReaderRequest) => {
  if (request.kind === 'cancel') cancelled.add(request.id)
  else void answer(request.id, request)
})

const answer = async (id: number, request: PageQuery): Promise<void> => {
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
  const begun = performance.now()
  const database = idle.pop() ?? new SqliteDatabase(path, migrations, { readOnly: true })
  const items = new Items(id)
  try {
    using _ = database.openSnapshot()
    const end = await runInTurns(
      stepsOf(database, request),
      (item) => items.take(item),
      () => {
        if (cancelled.has(id)) throw new Error('Nobody waits for the page')
        if (performance.now() - begun > timeoutMs) throw filterTooExpensive(timeoutMs)
      },
    )
    items.send()
    return end
  } finally {
    idle.push(database)
  }
}

const stepsOf = (
  database: SqliteDatabase,
  request: PageQuery,
): PageSteps<StoredForm | ListedRevision, unknown> =>
  request.kind === 'forms' ? readForms(database, request.query) : readRevisions(database, request.query)

/** The items of a page on their way to the main thread: long texts are handed over as bytes, which copies nothing. */
class Items {
  readonly #id: number
  #items: unknown[] = []
  #buffers: ArrayBuffer[] = []
  #length = 0

  constructor(id: number) {
    this.#id = id
  }

  take(item: StoredForm | ListedRevision): void {
    this.#items.push('draftJson' in item ? this.#form(item) : this.#revision(item))
    if (this.#length >= chunkLength) this.send()
  }

  send(): void {
    send({ id: this.#id, items: this.#items }, this.#buffers)
    this.#items = []
    this.#buffers = []
    this.#length = 0
  }

  #form({ draftJson, ...form }: StoredForm): Sent<StoredForm, 'draftJson'> {
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
