import { foldCase } from '@fms/aip'
import { draftSummaryFields } from '@fms/contracts'
import type { Row } from '@fms/store-kit'
import type { RevisionState, StoredForm, StoredRevision } from '../forms-store.ts'
import { type DraftSummary, metadataFields } from '../stored-rows.ts'

export const metadataColumns = ['organizationId', 'formId', ...metadataFields].join(', ')

export const summaryColumns = [metadataColumns, ...draftSummaryFields].join(', ')

/** The columns of `toStoredForm`. */
export const storedColumns = `${summaryColumns}, aiHandoff, draft`

/** The columns of `toFoundForm`. SQLite computes the size of a draft without reading it. */
export const foundColumns = `${summaryColumns}, id AS incarnation, isDeleted, changeTime, revisionNumber, liveNumber, octet_length(draft) AS bytes`

/**
 * Values of the columns that a change of the draft sets, without copies of members that are as before: SQLite rewrites the
 * indexes of every column that is set, even to the same value.
 */
export const draftColumns = (form: StoredForm, before?: DraftSummary): Row => {
  const { draftJson, aiHandoff, updateTime, version } = form
  const changed = draftSummaryFields.filter((name) => form[name] !== before?.[name])
  return {
    updateTime: updateTime.getTime(),
    version,
    draft: draftJson,
    aiHandoff: Number(aiHandoff),
    ...Object.fromEntries(changed.map((name) => [name, form[name]])),
    ...(changed.includes('name') && { foldedName: foldCase(form.name) }),
  }
}

export const deletedFormColumns = 'organizationId, formId, publicId, name, deleteTime, purgeTime, deleter'

/** @param row of a revision, with `liveRevisionId` and `aiHandoff` of its form. */
export const toRevisionState = (row: Row): RevisionState => ({
  revisionId: row.revisionId as string,
  live: row.revisionId === row.liveRevisionId,
  aiHandoff: row.aiHandoff === 1,
})

export const revisionColumns = (
  { formId: _, formJson, createTime, ...revision }: StoredRevision,
  incarnation: number,
): Row => ({ ...revision, incarnation, createTime: createTime.getTime(), form: formJson })
