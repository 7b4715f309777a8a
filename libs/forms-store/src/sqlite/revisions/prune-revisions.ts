import type { FormPath } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import { addSizes, noRevisions, type PruneRule, type RevisionsSize } from '../../revisions/revision-growth.ts'

/** Bounds of one batch: rows, and bytes of revisions. */
const maxRows = 500
const maxBytes = 4 * 1024 * 1024

interface PrunableRevision {
  revisionId: string
  number: number
  bytes: number
}

/** Deletes a batch of a form's revisions in one transaction; triggers subtract them from the usage. */
export const pruneRevisions = (
  database: SqliteDatabase,
  form: FormPath,
  rule: PruneRule,
): Promise<RevisionsSize> =>
  database.write(() => {
    const batch = findPrunable(database, form, rule, 0)
    for (const { revisionId } of batch) {
      database.run('DELETE FROM revisions WHERE revisionId = ?', revisionId)
    }
    return sizeOf(batch)
  })

/** Measures what `pruneRevisions` deletes, in batches between which other work runs. */
export const measurePrunable = async (
  database: SqliteDatabase,
  form: FormPath,
  rule: PruneRule,
): Promise<RevisionsSize> => {
  let [total, after] = [noRevisions, 0]
  for (;;) {
    const batch = findPrunable(database, form, rule, after)
    if (batch.length === 0) return total
    total = addSizes(total, sizeOf(batch))
    after = batch.at(-1)!.number
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/**
 * The oldest revisions after a number that do not have to stay, one batch of them. Index: revisions_by_number.
 */
const findPrunable = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
  { keep, before }: PruneRule,
  after: number,
): PrunableRevision[] => {
  const sql = `SELECT min(liveNumber, (SELECT number FROM revisions
      WHERE organizationId = forms.organizationId AND formId = forms.formId ORDER BY number DESC LIMIT 1 OFFSET ?)) AS firstToKeep
    FROM forms WHERE organizationId = ? AND formId = ?`
  // NULL where the form has no more revisions than it keeps.
  const firstToKeep = database.get(sql, keep - 1, organizationId, formId)?.firstToKeep as number | null
  if (!firstToKeep) return []
  const found = database.all(
    `SELECT revisionId, number, createTime, octet_length(form) AS bytes FROM revisions
     WHERE organizationId = ? AND formId = ? AND number > ? AND number < ? ORDER BY number LIMIT ? + 0`,
    organizationId,
    formId,
    after,
    firstToKeep,
    maxRows,
  )
  const batch: PrunableRevision[] = []
  let bytes = 0
  for (const { createTime, ...revision } of found) {
    if ((createTime as number) >= before.getTime() || bytes >= maxBytes) break
    batch.push(revision as unknown as PrunableRevision)
    bytes += revision.bytes as number
  }
  return batch
}

const sizeOf = (batch: readonly PrunableRevision[]): RevisionsSize => ({
  revisions: batch.length,
  bytes: batch.reduce((sum, { bytes }) => sum + bytes, 0),
})
