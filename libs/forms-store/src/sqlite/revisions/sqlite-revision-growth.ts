import type { FormPath } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import {
  type FormRevisions,
  manyRevisions,
  maxCountedForms,
  maxCountedRevisions,
  measureBatches,
  type PruneRule,
  type RevisionGrowth,
  withMinAge,
} from '../../revisions/revision-growth.ts'
import { formsByPublicId } from '../find-form.ts'
import { deleteRevisions, maxRows, oneBatch } from './delete-revisions.ts'

export const sqliteRevisionGrowth = (database: SqliteDatabase): RevisionGrowth => ({
  async *formsToPrune(organizationId, keep) {
    for await (const { formId, revisionNumber } of formsByPublicId(database, organizationId, false)) {
      if (revisionNumber > keep) yield { organizationId, formId }
    }
  },

  prunable: (form, rule) => measureBatches((after) => findPrunable(database, form, withMinAge(rule), after)),

  prune: (form, rule) =>
    database.write(() => {
      const batch = findPrunable(database, form, withMinAge(rule), 0)
      return deleteRevisions(database, form.organizationId, batch)
    }),

  /** Indexes: forms_with_many_revisions, revisions_by_number. */
  async formsWithMany(limit) {
    const published = database.all(
      `SELECT id, organizationId, formId, publicId FROM forms INDEXED BY forms_with_many_revisions
       WHERE isDeleted = 0 AND revisionNumber > ${manyRevisions} ORDER BY revisionNumber DESC LIMIT ${maxCountedForms}`,
    )
    const sql =
      'SELECT count(*) AS revisions FROM (SELECT 1 FROM revisions WHERE incarnation = ? LIMIT ? + 0)'
    const found: FormRevisions[] = []
    for (const { id, ...form } of published) {
      const { revisions } = database.get(sql, id!, maxCountedRevisions) as { revisions: number }
      if (revisions > manyRevisions) found.push({ ...(form as unknown as FormRevisions), revisions })
      if (found.length === limit) break
    }
    return found
  },

  /** Reads a row of usage for each organization. */
  async total() {
    const sql = 'SELECT sum(revisions) AS revisions, sum(revisionBytes) AS bytes FROM usage'
    const row = database.get(sql)
    return { revisions: (row?.revisions as number) ?? 0, bytes: (row?.bytes as number) ?? 0 }
  },
})

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
