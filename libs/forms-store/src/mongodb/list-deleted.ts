import type { DeletedFormPosition, DeletedFormsPage, ListDeletedFormsQuery } from '../forms-store.ts'
import { toDeletedForm } from '../stored-rows.ts'
import type { FormsCollections } from './documents.ts'
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
  const page = found.slice(0, limit)
  const deletedForms = page.map((deletion) => toDeletedForm({ ...deletion, formId: formIdOf(deletion) }))
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
