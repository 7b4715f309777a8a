import type { FormRecord } from '@fms/contracts'
import {
  type DirectoryRecord,
  directoryRecordKey,
  directoryRecordName,
  directoryStoreExists,
  migrateDirectoryStore,
  openDirectoryStore,
} from '@fms/directory-store'
import { type FormsStore, formsStoreExists, migrateFormsStore, openFormsStore } from '@fms/forms-store'
import { countAllForms } from '../forms/organization-forms.ts'
import { commandTimeoutMs } from '../stores/open-stores.ts'

export interface OpenStore<R> extends AsyncDisposable {
  /** All records, in the same order on every engine. Groups can be imported concurrently, but not the records of one. */
  groups(): AsyncIterable<AsyncIterable<R> | R[]>
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
  /** Position of the record in the order of `groups`, compared by UTF-16 code unit. */
  sortKeyOf(record: R): string
  nameOf(record: R): string
  tallyOf(record: R): Tally
}

const kinds = ['user', 'organization', 'member', 'key'] as const

const count = async (records: AsyncIterable<unknown>): Promise<number> => {
  let total = 0
  for await (const _ of records) total++
  return total
}

/** Users, organizations, members and API keys. */
export const directoryKind: StoreKind<DirectoryRecord> = {
  name: 'directory',
  store: 'directory',
  exists: directoryStoreExists,
  migrate: migrateDirectoryStore,
  open: async (url, readOnly) => {
    const store = await openDirectoryStore(url, undefined, { readOnly, timeoutMs: commandTimeoutMs })
    return {
      // One group, since a member needs its user and organization to exist.
      async *groups() {
        yield store.exportRecords()
      },
      count: () => count(store.exportRecords()),
      importRecord: (record) => store.importRecord(record),
      [Symbol.asyncDispose]: () => store.close(),
    }
  },
  sortKeyOf: (record) => `${kinds.indexOf(record.kind)} ${directoryRecordKey(record)}`,
  nameOf: directoryRecordName,
  tallyOf: ({ kind }) => Object.fromEntries(kinds.map((each) => [`${each}s`, Number(each === kind)])),
}

/** The forms of all organizations, deleted ones included, each as a group. */
async function* allForms(store: FormsStore): AsyncGenerator<FormRecord[]> {
  for await (const { organizationId } of store.organizations()) {
    for await (const form of store.exportForms(organizationId)) yield [form]
  }
}

/** Forms with their revisions and replies. Those of an organization are ordered by public id, deleted ones last. */
export const formsKind: StoreKind<FormRecord> = {
  name: 'forms',
  store: 'forms',
  exists: formsStoreExists,
  migrate: migrateFormsStore,
  open: async (url, readOnly) => {
    const store = await openFormsStore(url, { readOnly, clears: false, timeoutMs: commandTimeoutMs })
    return {
      groups: () => allForms(store),
      count: async () => countAllForms(store, await Array.fromAsync(store.organizations())),
      // The copy of the log has the events of the form.
      importRecord: (record) => store.importForm(record, { recordsEvent: false }),
      [Symbol.asyncDispose]: () => store.close(),
    }
  },
  sortKeyOf: ({ organizationId, deletion, publicId }) =>
    `${organizationId}/${deletion ? 'deleted' : 'current'}/${publicId}`,
  nameOf: ({ organizationId, formId }) => `organizations/${organizationId}/forms/${formId}`,
  tallyOf: ({ deletion, revisions, replyIds }) => ({
    [deletion ? 'deletedForms' : 'forms']: 1,
    revisions: revisions.length,
    replies: replyIds.length,
  }),
}
