import type { Problem } from '@fms/aip'
import type {
  ListedRevision,
  ListFormsQuery,
  ListRevisionsQuery,
  StoredForm,
  StoredRevision,
} from '../../forms-store.ts'
import type { FormsPageEnd } from './read-forms.ts'
import type { RevisionsPageEnd } from './read-revisions.ts'

/** What the reader thread reads: the query of a page, its items, and what the page tells beside them. */
export interface Pages {
  forms: { query: ListFormsQuery; item: StoredForm; end: FormsPageEnd }
  revisions: { query: ListRevisionsQuery; item: ListedRevision; end: RevisionsPageEnd }
}

export type PageQuery = { [K in keyof Pages]: { kind: K; query: Pages[K]['query'] } }[keyof Pages]

/** To the thread: a page to read, or one that nobody waits for any more. */
export type ReaderRequest = ({ id: number } & PageQuery) | { id: number; kind: 'cancel' }

/** An item as the thread sends it: the bytes of its JSON in place of the text. */
export type Sent<Item, Text extends keyof Item> = Omit<Item, Text | 'jsonBytes'> & { jsonBytes: Uint8Array }
export type SentRevision = { revision: Sent<StoredRevision, 'formJson'>; live: boolean }

/** From the thread: some items, then the end of the page or why there is none. */
export type ReaderResponse = { id: number } & (
  | { items: unknown[] }
  | { end: unknown }
  | { problem: Problem }
  | { failure: string }
)

export interface ReaderData {
  /** The file of the store. */
  path: string
  /** How long a list may take. */
  timeoutMs: number
}
