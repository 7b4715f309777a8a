/** The operations of a store that a copy uses. */
export interface OpenStore<R> extends AsyncDisposable {
  /** All records, in an order that is the same on every engine. A record comes after those it depends on. */
  records(): AsyncIterable<R>
  /** The records in groups, if those of a group have to be imported one after another. */
  groups?(): AsyncIterable<AsyncIterable<R>>
  count(): Promise<number>
  /** Stores a record. Importing it again changes nothing. */
  importRecord(record: R): Promise<'imported' | 'exists'>
}

/** Counts by name, for people, such as `{ forms: 1, revisions: 3 }`. */
export type Tally = Record<string, number>

/** One of the two stores, or a part of it, on any engine. `R` is its record. */
export interface StoreKind<R> {
  /** What it contains. */
  name: 'directory' | 'forms' | 'events'
  store: 'directory' | 'forms'
  /** Whether this store exists at the URL. Creates nothing. */
  exists(url: string): Promise<boolean>
  migrate(url: string): Promise<unknown>
  /** @param readOnly opens a SQLite file without changing it. */
  open(url: string, readOnly: boolean): Promise<OpenStore<R>>
  /** Maximum number of records, or groups of records, that are imported concurrently. */
  concurrency: number
  /** Position of the record in the order of `records`, compared by UTF-16 code unit. */
  sortKeyOf(record: R): string
  nameOf(record: R): string
  digestOf(record: R): string
  tallyOf(record: R): Tally
}
