import type { Problem } from '@fms/aip'
import type { FormText, ListFormsQuery, ListRevisionsQuery, LiveOrNot } from '../../forms-store.ts'
import type { FormsPageEnd } from './read-forms.ts'
import type { RevisionsPageEnd } from './read-revisions.ts'

/** What the reader thread reads: the query of a page, its items, and what the page tells beside them. */
export interface Pages {
  forms: { query: ListFormsQuery; item: FormText; end: FormsPageEnd }
  revisions: { query: ListRevisionsQuery; item: LiveOrNot; end: RevisionsPageEnd }
}

export type PageQuery = { [K in keyof Pages]: { kind: K; query: Pages[K]['query'] } }[keyof Pages]

/** To the thread: a page to read, or one that nobody waits for any more. */
export type ReaderRequest = ({ id: number } & PageQuery) | { id: number; kind: 'cancel' }

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
