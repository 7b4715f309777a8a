import type { SqliteDatabase } from '@fms/store-kit'
import type { IdentifiedRequest } from '../../requests/identified-request.ts'
import { rejectRepeat } from '../../requests/reject-repeat.ts'

/**
 * Looks a request up among the events of its organization. Index: events_by_request.
 *
 * @param formRef the form that the request names; undefined for a create.
 * @throws {RequestReplay} when it was carried out before; {ApiError} REQUEST_ID_REUSED when another request was.
 */
export const checkRequest = (
  database: SqliteDatabase,
  organizationId: string,
  formRef: string | undefined,
  request: IdentifiedRequest,
): void => {
  const found = database.get(
    `SELECT formId, digest, event ->> '$.data.publicId' AS publicId FROM events
     WHERE requestId = ? AND organizationId = ? AND method = ?`,
    request.requestId,
    organizationId,
    request.method,
  )
  if (!found) return
  const { formId, digest, publicId } = found as { formId: string; digest: string; publicId: string }
  rejectRepeat({ organizationId, formId, publicId, digest }, formRef, request)
}
