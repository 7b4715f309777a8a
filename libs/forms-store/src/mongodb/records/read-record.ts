import type { FormPath, FormRecord } from '@fms/contracts'
import { type MongoTransaction, retryOnConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import { toDeletion, toStoredRevision } from '../../stored-rows.ts'
import { toStoredForm } from '../convert-documents.ts'
import type {
  DeletionDocument,
  FormDocument,
  FormsCollections,
  ReplyDocument,
  RevisionDocument,
} from '../documents.ts'
import { formById, incarnationOf } from '../find-form.ts'

/** A form with its revisions and replies, in one snapshot that a majority has. */
export const readRecord = ({ database }: FormsCollections, path: FormPath): Promise<FormRecord | undefined> =>
  retryOnConflict(
    () => database.transaction((transaction) => read(transaction, path)),
    () => updateAborted({ ...path, formRef: path.formId }),
  )

const read = async (transaction: MongoTransaction, path: FormPath): Promise<FormRecord | undefined> => {
  const form = await transaction.findOne<FormDocument>('forms', formById(path))
  if (!form) return undefined
  const all = incarnationOf(form)
  const revisions = await transaction.find<RevisionDocument>('revisions', all, { sort: { number: 1 } })
  const replies = await transaction.find<ReplyDocument>('replies', all, { fields: ['replyId'] })
  const deletion =
    form.isDeleted && (await transaction.findOne<DeletionDocument>('deletions', formById(path)))
  return toFormRecord(toStoredForm(form), {
    ...form,
    revisions: revisions.map(toStoredRevision),
    replyIds: replies.map(({ replyId }) => replyId),
    deletion: deletion ? toDeletion(deletion) : undefined,
  })
}
