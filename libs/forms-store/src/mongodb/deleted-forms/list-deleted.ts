import type { FindQuery } from '@fms/store-kit/mongodb'
import type {
  DeletedForm,
  DeletedFormPosition,
  DeletedFormsPage,
  ListDeletedFormsQuery,
} from '../../forms-store.ts'
import type { DeletionDocument, FormsCollections } from '../documents.ts'
import { documentIdsOf } from '../form-queries.ts'
import type { ListLimits } from '../list-forms.ts'

/** The fields of `toDeletedForm`, and the incarnation. */
const noteFields = [
  'organizationId',
  'formId',
  'incarnation',
  'publicId',
  'form.name',
  'deleteTime',
  'purgeTime',
  'deleter',
] as const

/**
 * Reads a page of deleted forms, without their drafts. The total includes forms whose undelete was killed, for a minute or
 * two. Index: deletions_by_deleteTime.
 */
export const listDeleted = async (
  collections: FormsCollections,
  query: ListDeletedFormsQuery,
  limits: ListLimits,
): Promise<DeletedFormsPage> => {
  const { organizationId, limit } = query
  const { timeoutMs } = limits
  const [notes, totalSize] = await Promise.all([
    readPage(collections, query, limits),
    collections.deletions.count({ organizationId, deleteTime: { $gt: 0 } }, { timeoutMs }),
  ])
  const deletedForms = notes.slice(0, limit).map(toDeletedForm)
  const next = notes.length > limit ? deletedForms.at(-1) : undefined
  return { deletedForms, ...(next && { next: positionOf(next) }), totalSize }
}

const positionOf = ({ deleteTime, formId }: DeletedForm): DeletedFormPosition => ({ deleteTime, formId })

/** The notes of a page, and one more if there is one. */
const readPage = async (
  collections: FormsCollections,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
  { timeoutMs, throwIfAborted }: ListLimits,
): Promise<DeletionDocument[]> => {
  const notes: DeletionDocument[] = []
  let position: Position | undefined = after && { ...after, deleteTime: after.deleteTime.getTime() }
  for (let toSkip = skip; ; toSkip = 0) {
    throwIfAborted()
    const wanted = limit + 1 - notes.length
    const options = { limit: wanted, skip: toSkip, timeoutMs }
    const batch = await readNotes(collections, organizationId, position, options)
    notes.push(...(await withoutForm(collections, organizationId, batch, timeoutMs)))
    if (batch.length < wanted || notes.length > limit) return notes
    position = batch.at(-1)
  }
}

type Position = Pick<DeletionDocument, 'deleteTime' | 'formId'>

/** The notes after a position. */
const readNotes = (
  { deletions }: FormsCollections,
  organizationId: string,
  after: Position | undefined,
  options: Pick<FindQuery, 'limit' | 'skip' | 'timeoutMs'>,
): Promise<DeletionDocument[]> => {
  const query = {
    organizationId,
    deleteTime: { $gt: 0, ...(after && { $lte: after.deleteTime }) },
    ...(after && { $or: [{ deleteTime: { $lt: after.deleteTime } }, { formId: { $gt: after.formId } }] }),
  }
  const sort = { deleteTime: -1, formId: 1 } as const
  return Array.fromAsync(deletions.find(query, { ...options, sort, fields: noteFields }))
}

/** The notes whose form does not exist: a killed undelete may have left the others. */
const withoutForm = async (
  { forms }: FormsCollections,
  organizationId: string,
  notes: readonly DeletionDocument[],
  timeoutMs: number,
): Promise<DeletionDocument[]> => {
  if (notes.length === 0) return []
  const query = { organizationId, _id: { $in: notes.flatMap((note) => documentIdsOf(note)) } }
  const found = await Array.fromAsync(forms.find(query, { fields: ['incarnation'], timeoutMs }))
  const existing = new Set(found.map(({ incarnation }) => incarnation))
  return notes.filter(({ incarnation }) => !existing.has(incarnation))
}

const toDeletedForm = ({
  organizationId,
  formId,
  publicId,
  form,
  deleteTime,
  purgeTime,
  deleter,
}: DeletionDocument): DeletedForm => ({
  organizationId,
  formId,
  publicId,
  name: form!.name,
  deleteTime: new Date(deleteTime!),
  purgeTime: new Date(purgeTime!),
  deleter: deleter!,
})
