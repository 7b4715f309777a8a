import {
  type DirectoryRecord,
  directoryDigest,
  directoryRecordName,
  directoryStoreExists,
  migrateDirectoryStore,
  openDirectoryStore,
} from '@fms/directory-store'
import { commandTimeoutMs } from '../stores/stores.ts'
import type { StoreKind } from './store-kind.ts'

const kinds = ['user', 'organization', 'member', 'key'] as const

const sortKeyOf = (record: DirectoryRecord): string => {
  const rank = kinds.indexOf(record.kind)
  switch (record.kind) {
    case 'user':
      return `${rank} ${record.userId}`
    case 'organization':
      return `${rank} ${record.organizationId}`
    case 'member':
      return `${rank} ${record.userId} ${record.organizationId}`
    case 'key':
      return `${rank} ${record.keyId}`
  }
}

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
  // One at a time, since a member needs its user and organization to exist.
  concurrency: 1,
  open: async (url, readOnly) => {
    const store = await openDirectoryStore(url, undefined, { readOnly, timeoutMs: commandTimeoutMs })
    return {
      records: () => store.exportRecords(),
      count: () => count(store.exportRecords()),
      importRecord: (record) => store.importRecord(record),
      [Symbol.asyncDispose]: () => store.close(),
    }
  },
  sortKeyOf,
  nameOf: directoryRecordName,
  digestOf: directoryDigest,
  tallyOf: ({ kind }) => Object.fromEntries(kinds.map((each) => [`${each}s`, Number(each === kind)])),
}
