import type { FormPath } from '@fms/contracts'
import type { SqliteDatabase } from '@fms/store-kit'
import type { FoundRevision, RevisionIds } from '../../changes/change-engine.ts'
import type { EarlierRequest } from '../../changes/reject-repeat.ts'
import type { StoredForm } from '../../forms-store.ts'
import type { IdentifiedRequest } from '../../identified-request.ts'
import { findForm } from '../find-form.ts'

/** Which ids of a new form are taken. Indexes: the unique ones of forms. */
export const findTakenId = (
  database: SqliteDatabase,
  { organizationId, formId, publicId }: FormPath & Pick<StoredForm, 'publicId'>,
): 'formId' | 'deletedFormId' | 'publicId' | undefined => {
  const form = findForm(database, { organizationId, formRef: formId }, 'isDeleted', undefined)
  if (form) return form.isDeleted === 1 ? 'deletedFormId' : 'formId'
  return database.get('SELECT 1 FROM forms WHERE publicId = ?', publicId) && 'publicId'
}

/** The time of the newest event of a form's id; the epoch for none. Index: events_by_form. */
export const lastTimeOf = (database: SqliteDatabase, { organizationId, formId }: FormPath): Date => {
  const sql = 'SELECT time FROM events WHERE organizationId = ? AND formId = ? ORDER BY sequence DESC LIMIT 1'
  return new Date((database.get(sql, organizationId, formId)?.time as number | undefined) ?? 0)
}

/** The request that was carried out before. Index: events_by_request. */
export const findRequest = (
  database: SqliteDatabase,
  organizationId: string,
  { requestId, method }: IdentifiedRequest,
): EarlierRequest | undefined => {
  const found = database.get(
    `SELECT formId, digest, event ->> '$.data.publicId' AS publicId FROM events
     WHERE requestId = ? AND organizationId = ? AND method = ?`,
    requestId,
    organizationId,
    method,
  )
  return found && ({ organizationId, ...found } as unknown as EarlierRequest)
}

const foundRevisions = `SELECT revisionId, commandId, number, note, incarnation, revisions.organizationId,
  coalesce(formId, '') AS formId, formId IS NOT NULL AS isHeld FROM revisions LEFT JOIN forms ON id = incarnation`

/** Revisions with an id or a command of those given, also of a form that is gone. Indexes: the key of revisions, revisions_by_command. */
export const findRevisions = (
  database: SqliteDatabase,
  organizationId: string,
  revisions: readonly RevisionIds[],
): FoundRevision[] => {
  if (revisions.length === 0) return []
  const given = '(SELECT value FROM json_each(?))'
  return database.all(
    `${foundRevisions} WHERE revisionId IN ${given}
     UNION ${foundRevisions} WHERE revisions.organizationId = ? AND commandId IN ${given}`,
    JSON.stringify(revisions.flatMap(({ revisionId = [] }) => revisionId)),
    organizationId,
    JSON.stringify(revisions.map(({ commandId }) => commandId)),
  ) as unknown as FoundRevision[]
}
