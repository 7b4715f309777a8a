import { latestAlias, liveAlias } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormRef } from '../../forms-store.ts'
import { formByRef } from '../rows.ts'

/**
 * The row of a revision, with `liveRevisionId` and `aiHandoff` of its form. Index: the unique one of revisionId; for
 * `latest`, revisions_by_number.
 *
 * @param columns of the revision, beside those of `toRevisionState`.
 */
export const findRevision = (
  database: SqliteDatabase,
  ref: FormRef,
  revisionRef: string,
  columns?: string,
): Row | undefined => {
  const condition = formByRef(ref)
  if (!condition) return undefined
  const [revision, ...values] = conditionOf(revisionRef)
  return database.get(
    `SELECT ${columns ? `${columns}, ` : ''}revisionId, liveRevisionId, aiHandoff
     FROM (SELECT organizationId AS itsOrganization, formId AS itsForm, liveRevisionId, aiHandoff FROM forms
       WHERE ${condition.sql})
     CROSS JOIN revisions ON ${revision} AND organizationId = itsOrganization AND formId = itsForm`,
    ...condition.values,
    ...values,
  )
}

const conditionOf = (revisionRef: string): [sql: string, ...values: string[]] => {
  if (revisionRef === liveAlias) return ['revisionId = liveRevisionId']
  if (revisionRef === latestAlias)
    return [
      'number = (SELECT max(number) FROM revisions WHERE organizationId = itsOrganization AND formId = itsForm)',
    ]
  return ['revisionId = ?', revisionRef.toLowerCase()]
}

/**
 * The row of the revision that a command made, also of a deleted form that can be restored. Skips revisions that are being
 * cleared. Indexes: revisions_by_command, the keys of forms and deletedForms.
 */
export const findRevisionOfCommand = (
  database: SqliteDatabase,
  organizationId: string,
  commandId: string,
  columns = '*',
): Row | undefined => {
  const existsIn = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} AS its
       WHERE its.organizationId = revisions.organizationId AND its.formId = revisions.formId)`
  return database.get(
    `SELECT ${columns} FROM revisions WHERE organizationId = ? AND commandId = ?
     AND (${existsIn('forms')} OR ${existsIn('deletedForms')})`,
    organizationId,
    commandId,
  )
}
