import type { DirectoryRecord, DirectoryStore } from '@fms/directory-store'

const uuid = (number: number) => `00000000-0000-4000-8000-${`${number}`.padStart(12, '0')}`
const time = (minutes: number) => new Date(Date.UTC(2026, 10, 20, 9, minutes))

const key = (number: number) => ({
  kind: 'key' as const,
  keyId: uuid(10 + number),
  hash: `${number}`.padStart(43, '_'),
  prefix: `prefix0${number}`,
  userId: uuid(1),
  name: `Key ${number}`,
  readOnly: false,
  createTime: time(4),
})

/** A record of each kind, in each of its states. */
const records: DirectoryRecord[] = [
  { kind: 'user', userId: uuid(1), email: 'ada@example.com', createTime: time(0) },
  { kind: 'user', userId: uuid(2), email: 'bob@example.com', createTime: time(1), disableTime: time(9) },
  {
    kind: 'organization',
    organizationId: uuid(3),
    slug: 'groesse',
    name: 'Größe 😀',
    logo: null,
    metadata: { plan: ['a', 1] },
    createTime: time(2),
  },
  { kind: 'member', organizationId: uuid(3), userId: uuid(1), role: 'owner', createTime: time(3) },
  { kind: 'member', organizationId: uuid(3), userId: uuid(2), role: 'viewer', createTime: time(3) },
  { ...key(1), lastUsedTime: time(8), expireTime: time(10) },
  { ...key(2), readOnly: true, revokeTime: time(7) },
]

export const fillDirectory = async (store: DirectoryStore): Promise<void> => {
  for (const record of records) await store.importRecord(record)
}

/** Everything that a store holds. */
export const readDirectory = (store: DirectoryStore): Promise<DirectoryRecord[]> =>
  Array.fromAsync(store.exportRecords())
