import type { FormRecord } from '@fms/contracts'
import { fromFormRecord, revisionStateOf, revisionsOf } from '../stored-form-record.ts'
import { type Change, type ChangeOrigin, growthOf, growthOfRevisions, stamp } from './change.ts'
import { fromDeletionRecord, purgeTimeMember } from './deletion.ts'

/** Stores an exported form, deleted or not, and its history. @param lastTime of an earlier form with this id. */
export const importForm = (
  record: FormRecord,
  lastTime: Date,
  recordsEvent: boolean,
  origin: ChangeOrigin,
): Change => {
  const { organizationId, formId } = record
  const form = fromFormRecord(record)
  const deletion = record.deletion && fromDeletionRecord(record.deletion)
  const revisions = revisionsOf(record)
  const ofRevisions = growthOfRevisions(revisions)
  // A deleted form has no ETag, because it is not visible.
  const parts = {
    type: 'form.imported',
    more: purgeTimeMember(deletion),
    ...(!deletion && { after: form }),
  } as const
  const { event: recorded, ...stamped } = stamp(form, lastTime, parts, origin)
  const event = recordsEvent ? recorded : undefined
  return {
    organizationId,
    formId,
    form: { insert: { form, ...revisionStateOf(record), deletion } },
    revisions,
    replyIds: [...new Set(record.replyIds)],
    growth: growthOf(
      {
        ...ofRevisions,
        forms: deletion ? 0 : 1,
        bytes: Buffer.byteLength(form.draftJson) + ofRevisions.bytes,
      },
      event,
    ),
    ignoresQuota: true,
    ...stamped,
    ...(event && { event }),
  }
}
