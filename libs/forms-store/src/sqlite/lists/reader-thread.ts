import { workerData } from 'node:worker_threads'
import { ApiError, type Problem } from '@fms/aip'
import { lowerPriority } from '@fms/scheduling/lower-priority'
import { threadTask } from '@fms/scheduling/worker-threads'
import { SqliteDatabase } from '@fms/store-kit'
import type { ListReport } from '../../forms-store.ts'
import { throwAfter } from '../../lists/list-timeout.ts'
import { migrations } from '../schema.ts'
import { anyPage } from './page-bounds.ts'
import { type PageKind, type Pages, readPage } from './pages.ts'

export interface ReaderData {
  path: string
  /** Time limit of a page, in milliseconds. */
  timeoutMs: number
}

/** To the thread: a page to read. */
interface ReaderRequest<K extends PageKind = PageKind> {
  kind: K
  query: Pages[K]['query']
  /** Shared memory: 1 once the caller has gone. */
  isCancelled: Int32Array<SharedArrayBuffer>
}

/** From the thread: the page, or why there is none. An ApiError would lose its fields. */
type Outcome = { page: unknown } | { problem: Problem } | { failure: string }
type ReaderResponse = Outcome & { report: Partial<ListReport> }

/** Rows between two checks of `unlessAborted`. */
const rowsPerCheck = 16

lowerPriority()

const { path, timeoutMs } = workerData as ReaderData
let database: SqliteDatabase | undefined

const read = ({ kind, query, isCancelled }: ReaderRequest, report: ListReport): Outcome => {
  const throwIfLate = throwAfter(timeoutMs)
  let checks = -1
  const throwIfUnwanted = () => {
    report.rows = ++checks * rowsPerCheck
    if (Atomics.load(isCancelled, 0) === 1) throw new Error('The page is cancelled')
    throwIfLate()
  }
  try {
    database ??= new SqliteDatabase(path, migrations, { readOnly: true })
    return { page: readPage(database, kind, query, anyPage, report, throwIfUnwanted) }
  } catch (error) {
    if (error instanceof ApiError) return { problem: error.toProblem() }
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

/** Errors are values here, too, so that a failed page has its report. */
export const respond = threadTask((request: ReaderRequest): ReaderResponse => {
  const report: ListReport = { waitedMs: 0 }
  const outcome = read(request, report)
  const { plan, rows } = report
  return { ...outcome, report: { ...(plan && { plan }), ...(rows !== undefined && { rows }) } }
})
