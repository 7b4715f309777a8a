import type { SqliteDatabase } from '@fms/store-kit'
import type {
  DeletedFormsPage,
  FormSummariesPage,
  FormsPage,
  ListDeletedFormsQuery,
  ListFormsQuery,
  ListReport,
  ListRevisionsQuery,
  RevisionsPage,
} from '../../forms-store.ts'
import type { PageBounds } from './page-bounds.ts'
import { readDeletedForms } from './read-deleted-forms.ts'
import { readForms, readSummaries } from './read-forms.ts'
import { readRevisions } from './read-revisions.ts'

export interface Pages {
  forms: { query: ListFormsQuery; page: FormsPage }
  summaries: { query: ListFormsQuery; page: FormSummariesPage }
  deletedForms: { query: ListDeletedFormsQuery; page: DeletedFormsPage }
  revisions: { query: ListRevisionsQuery; page: RevisionsPage | undefined }
}

export type PageKind = keyof Pages

/** Reads a page; `large` if it is beyond the bounds. */
type ReadPage<K extends PageKind> = (
  database: SqliteDatabase,
  query: Pages[K]['query'],
  bounds: PageBounds,
  report: ListReport,
) => Pages[K]['page'] | 'large'

const readers: { [K in PageKind]: ReadPage<K> } = {
  forms: readForms,
  summaries: readSummaries,
  deletedForms: readDeletedForms,
  revisions: readRevisions,
}

/** Reads one snapshot of the file. @param throwIfUnwanted called first, and by statements that take long. */
export const readPage = <K extends PageKind>(
  database: SqliteDatabase,
  kind: K,
  query: Pages[K]['query'],
  bounds: PageBounds,
  report: ListReport,
  throwIfUnwanted?: () => void,
): Pages[K]['page'] | 'large' =>
  database.snapshot(() => readers[kind](database, query, bounds, report), throwIfUnwanted)
