import type { SqliteDatabase } from '@fms/store-kit'
import type { Change, Growth } from '../changes/change.ts'
import type { OrganizationForms, Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota, limitedGrowth } from '../quota.ts'

export interface UsageGrowth extends Omit<Growth, 'eventBytes'> {
  deletedForms: number
}

/** What an organization has stored. Index: the key of usage. */
export const readUsage = (
  database: SqliteDatabase,
  organizationId: string,
): Usage & Pick<UsageGrowth, 'deletedForms'> => {
  const sql = 'SELECT forms, deletedForms, bytes FROM usage WHERE organizationId = ?'
  const { forms = 0, deletedForms = 0, bytes = 0 } = database.get(sql, organizationId) ?? {}
  return { forms: forms as number, deletedForms: deletedForms as number, bytes: bytes as number }
}

/** Checks that quota and disk have room for a change. @throws {ApiError} QUOTA_EXCEEDED, STORAGE_FULL. */
export const checkRoom = (database: SqliteDatabase, quota: Quota, change: Change): void => {
  const { organizationId, ignoresQuota } = change
  const growth = limitedGrowth(change)
  if (!ignoresQuota) assertWithinQuota(organizationId, quota, readUsage(database, organizationId), growth)
  if (growth.forms > 0 || growth.bytes > 0) database.assertRoom()
}

/** Adds to the usage of an organization. Runs in a transaction. */
export const addUsage = (
  database: SqliteDatabase,
  organizationId: string,
  growth: Partial<UsageGrowth>,
): void => {
  const parts = Object.entries(growth).filter(([, part]) => part !== 0)
  if (parts.length === 0) return
  const sums = parts.map(([column]) => `${column} = ${column} + ?`).join(', ')
  const values = parts.map(([, part]) => part)
  if (database.run(`UPDATE usage SET ${sums} WHERE organizationId = ?`, ...values, organizationId) > 0) return
  const nothing = { forms: 0, deletedForms: 0, bytes: 0, revisions: 0, revisionBytes: 0 }
  database.insert('usage', { organizationId, ...nothing, ...growth })
}

/** Index: the key of usage. */
export function* listOrganizations(database: SqliteDatabase): Generator<OrganizationForms> {
  const rows = database.all('SELECT * FROM usage WHERE forms > 0 OR deletedForms > 0 ORDER BY organizationId')
  for (const { organizationId, forms } of rows) {
    yield { organizationId: organizationId as string, forms: forms as number }
  }
}
