import type { FormRecord } from '@fms/contracts'
import { recordDigest } from '@fms/store-kit'
import type { LiveState } from './changes/change.ts'
import type { Deletion } from './changes/deletion.ts'
import { formConflict } from './errors.ts'
import type { FormMetadata, StoredForm, StoredRevision } from './forms-store.ts'
import { parseDraft, parseSnapshot, toStoredDraft } from './stored-draft.ts'

interface FormHistory extends LiveState {
  /** Oldest first. */
  revisions: StoredRevision[]
  /** In any order; duplicates are ignored. */
  replyIds: Iterable<string>
  deletion?: Deletion | undefined
}

/** A form with its history, as JSON for an export: all that a store keeps, or a copy would lose it. */
export const toFormRecord = (
  form: StoredForm,
  history: FormHistory,
): FormRecord & Record<keyof FormMetadata, unknown> => ({
  organizationId: form.organizationId,
  formId: form.formId,
  publicId: form.publicId,
  createTime: form.createTime.toISOString(),
  updateTime: form.updateTime.toISOString(),
  version: form.version,
  draft: parseDraft(form),
  revisionNumber: history.revisionNumber,
  live:
    history.liveRevisionId === null
      ? null
      : { revisionId: history.liveRevisionId, number: history.liveNumber },
  ...(history.liveRevisionId === null && history.liveNumber > 0 && { unpublishedNumber: history.liveNumber }),
  revisions: history.revisions.map((revision) => ({
    revisionId: revision.revisionId,
    number: revision.number,
    commandId: revision.commandId,
    createTime: revision.createTime.toISOString(),
    ...(revision.publisher && { publisher: revision.publisher }),
    ...(revision.note && { note: revision.note }),
    form: parseSnapshot(revision),
  })),
  replyCount: form.replyCount,
  replyIds: [...new Set(history.replyIds)].sort(),
  ...(history.deletion && {
    deletion: {
      deleteTime: history.deletion.deleteTime.toISOString(),
      purgeTime: history.deletion.purgeTime.toISOString(),
      deleter: history.deletion.deleter,
    },
  }),
})

export const fromFormRecord = (record: FormRecord): StoredForm => ({
  organizationId: record.organizationId,
  formId: record.formId,
  publicId: record.publicId,
  createTime: new Date(record.createTime),
  updateTime: new Date(record.updateTime),
  version: record.version,
  replyCount: record.replyCount,
  live: record.live !== null,
  ...toStoredDraft(record.draft),
})

export const revisionStateOf = ({ revisionNumber, live, unpublishedNumber }: FormRecord) => ({
  revisionNumber,
  liveNumber: live?.number ?? unpublishedNumber ?? 0,
  liveRevisionId: live?.revisionId ?? null,
})

export const revisionsOf = ({ organizationId, formId, revisions }: FormRecord): StoredRevision[] =>
  revisions.map(({ form, ...revision }) => ({
    ...revision,
    organizationId,
    formId,
    createTime: new Date(revision.createTime),
    publisher: revision.publisher ?? '',
    note: revision.note ?? '',
    formJson: JSON.stringify(form),
  }))

/** @throws {ApiError} FORM_CONFLICT when the stored form or its history differs from the record. */
export const assertSameRecord = (stored: FormRecord, record: FormRecord): 'exists' => {
  if (recordDigest(stored) !== recordDigest(record)) throw formConflict(record, 'formId', record.formId)
  return 'exists'
}
