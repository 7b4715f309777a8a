import type { Problem } from '@fms/aip'
import type {
  FormSummary,
  ListedRevision,
  ListFormsQuery,
  ListRevisionsQuery,
  StoredForm,
  StoredRevision,
} from '../../forms-store.ts'
import type { FormsPageEnd } from './read-forms.ts'
import type { RevisionsPageEnd } from './read-revisions.ts'

/** The kinds of pages: the query, an item, and the page without its items. */
export interface Pages {
  forms: { query: ListFormsQuery; item: StoredForm; end: FormsPageEnd }
  summaries: { query: ListFormsQuery; item: FormSummary; end: FormsPageEnd }
  revisions: { query: ListRevisionsQuery; item: ListedRevision; end: RevisionsPageEnd }
}

export type PageQuery = { [K in keyof Pages]: { kind: K; query: Pages[K]['query'] } }[keyof Pages]

/** To the thread: a page to read, or the id of one to cancel. */
export type ReaderRequest = ({ id: number } & PageQuery) | { id: number; kind: 'cancel' }

/** An item as the thread sends it: JSON in UTF-8 instead of text. */
export type SentItem<Item, Text extends keyof Item> = Omit<Item, Text | 'jsonBytes'> & {
  jsonBytes: Uint8Array
}
export type SentRevision = { revision: SentItem<StoredRevision, 'formJson'>; live: boolean }

/** From the thread: items in batches, then the end of the page or its error. */
export type ReaderResponse = { id: number } & (
  | { items: unknown[] }
  | { end: unknown }
  | { problem: Problem }
  | { failure: string }
)

export interface ReaderData {
  /** The SQLite file. */
  path: string
  /** Time limit of a page, in milliseconds. */
  timeoutMs: number
}
