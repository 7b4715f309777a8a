import type { FormPath } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import {
  addSizes,
  noRevisions,
  type PruneRule,
  type RevisionsSize,
  sizeOf,
} from '../../revisions/revision-growth.ts'
import { deleteRevisions, maxRows, oneBatch } from './delete-revisions.ts'

/** Deletes a batch of a form's revisions in one transaction. */
export const pruneRevisions = (
  database: SqliteDatabase,
  form: FormPath,
  rule: PruneRule,
): Promise<RevisionsSize> =>
  database.write(() => deleteRevisions(database, form.organizationId, findPrunable(database, form, rule, 0)))

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
    after = batch.at(-1)!.number as number
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** The oldest revisions after a number that do not have to stay, one batch of them. Index: revisions_by_number. */
const findPrunable = (
  database: SqliteDatabase,
  { organizationId, formId }: FormPath,
  { keep, before }: PruneRule,
  after: number,
): Row[] => {
  const sql = `SELECT id, min(liveNumber, (SELECT number FROM revisions
      WHERE incarnation = id ORDER BY number DESC LIMIT 1 OFFSET ?)) AS firstToKeep
    FROM forms WHERE organizationId = ? AND formId = ? AND isDeleted = 0`
  // NULL where the form has no more revisions than it keeps.
  const { id, firstToKeep } = database.get(sql, keep - 1, organizationId, formId) ?? {}
  if (!firstToKeep) return []
  const found = database.all(
    `SELECT revisionId, number, createTime, octet_length(form) AS bytes FROM revisions
     WHERE incarnation = ? AND number > ? AND number < ? ORDER BY number LIMIT ? + 0`,
    id!,
    after,
    firstToKeep,
    maxRows,
  )
  const firstTooNew = found.findIndex(({ createTime }) => (createTime as number) >= before.getTime())
  return oneBatch(firstTooNew < 0 ? found : found.slice(0, firstTooNew))
}
