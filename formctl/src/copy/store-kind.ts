/** What a move needs of a store. */
export interface OpenedStore<R> extends AsyncDisposable {
  /** All records, in an order that is the same on every engine; after each that it depends on. */
  records(): AsyncIterable<R>
  count(): Promise<number>
  /** Stores a record. A repeat changes nothing. */
  importRecord(record: R): Promise<'imported' | 'exists'>
}

/** Of a record, for people: how many there are of what. */
export type Tally = Record<string, number>

/** A store that can be moved, whatever its engine. */
export interface StoreKind<R> {
  name: 'directory' | 'forms'
  /** Whether there is such a store. Changes nothing. */
  holds(url: string): Promise<boolean>
  migrate(url: string): Promise<unknown>
  /** @param readOnly leaves a file as it is. */
  open(url: string, readOnly: boolean): Promise<OpenedStore<R>>
  /** So many records may be imported at once. */
  atOnce: number
  /** Where the record stands in the order, by code unit. */
  positionOf(record: R): string
  nameOf(record: R): string
  digestOf(record: R): string
  tallyOf(record: R): Tally
}
