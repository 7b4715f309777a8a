import type {
  DeletedForm,
  DeletedFormPosition,
  DeletedFormsPage,
  ListDeletedFormsQuery,
} from '../forms-store.ts'
import { toDeletion } from '../stored-rows.ts'
import type { DeletionDocument, FormsCollections } from './documents.ts'
import { documentIdOf, formIdOf } from './find-form.ts'
import type { ListLimits } from './list-forms.ts'

/** Reads a page of deleted forms, without reading the forms. Index: deletions_by_deleteTime. */
export const listDeleted = async (
  { deletions }: FormsCollections,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
  { timeoutMs, throwIfAborted }: ListLimits,
): Promise<DeletedFormsPage> => {
  throwIfAborted()
  const query = { organizationId, ...(after && isAfter(organizationId, after)) }
  const sort = { deleteTime: -1, _id: 1 } as const
  const [found, totalSize] = await Promise.all([
    Array.fromAsync(deletions.find(query, { sort, skip, limit: limit + 1, timeoutMs })),
    deletions.count({ organizationId }, { timeoutMs }),
  ])
  const deletedForms = found.slice(0, limit).map(toDeletedForm)
  const last = found.length > limit ? deletedForms.at(-1) : undefined
  return {
    deletedForms,
    ...(last && { next: { deleteTime: last.deleteTime, formId: last.formId } }),
    totalSize,
  }
}

const isAfter = (organizationId: string, { deleteTime, formId }: DeletedFormPosition) => {
  const time = deleteTime.getTime()
  const isTied = { deleteTime: time, _id: { $gt: documentIdOf({ organizationId, formId }) } }
  return { deleteTime: { $lte: time }, $or: [{ deleteTime: { $lt: time } }, isTied] }
}

const toDeletedForm = (deletion: DeletionDocument): DeletedForm => ({
  organizationId: deletion.organizationId,
  formId: formIdOf(deletion),
  publicId: deletion.publicId,
  name: deletion.name,
  ...toDeletion(deletion),
})
