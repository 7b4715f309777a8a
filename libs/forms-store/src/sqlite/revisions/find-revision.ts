import { latestAlias, liveAlias } from '@fms/contracts'
import type { Row, SqliteDatabase } from '@fms/store-kit'
import type { FormRef } from '../../forms-store.ts'
import { formByRef } from '../find-form.ts'

/** With `liveRevisionId` and `aiHandoff` of its form. Indexes: that of revisionId; for `latest`, revisions_by_number. */
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
     FROM (SELECT id, formId, liveRevisionId, aiHandoff FROM forms WHERE ${condition.sql} AND isDeleted = 0)
     CROSS JOIN revisions ON ${revision} AND incarnation = id`,
    ...condition.values,
    ...values,
  )
}

const conditionOf = (revisionRef: string): [sql: string, ...values: string[]] => {
  if (revisionRef === liveAlias) return ['revisionId = liveRevisionId']
  if (revisionRef === latestAlias)
    return ['number = (SELECT max(number) FROM revisions WHERE incarnation = id)']
  return ['revisionId = ?', revisionRef.toLowerCase()]
}
