import type { SqliteDatabase } from '@fms/store-kit'
import type { OrganizationForms, Quota, Usage } from '../forms-store.ts'
import { assertWithinQuota } from '../quota.ts'

/** What an organization has stored. Triggers count it with each write. Index: the key of usage. */
export const readUsage = (database: SqliteDatabase, organizationId: string): Usage => {
  const row = database.get('SELECT forms, bytes FROM usage WHERE organizationId = ?', organizationId)
  return { forms: (row?.forms as number) ?? 0, bytes: (row?.bytes as number) ?? 0 }
}

/** @throws {ApiError} QUOTA_EXCEEDED. */
export const checkQuota = (
  database: SqliteDatabase,
  quota: Quota,
  organizationId: string,
  growth: Usage,
): void => assertWithinQuota(organizationId, quota, readUsage(database, organizationId), growth)

/** Index: the key of usage. */
export function* listOrganizations(database: SqliteDatabase): Generator<OrganizationForms> {
  const rows = database.all('SELECT * FROM usage WHERE forms > 0 OR deletedForms > 0 ORDER BY organizationId')
  for (const { organizationId, forms } of rows) {
    yield { organizationId: organizationId as string, forms: forms as number }
  }
}
