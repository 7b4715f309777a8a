import type { FormRecord } from '@fms/contracts'
import { type MongoTransaction, retryOnConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { OrganizationForms } from '../../forms-store.ts'
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
import { formIdOf, incarnationOf } from '../find-form.ts'
import { readUsage } from '../usage.ts'

/** The organizations that have forms, deleted ones included. Index: forms_by_id, one entry for each organization. */
export async function* listOrganizations(collections: FormsCollections): AsyncGenerator<OrganizationForms> {
  const options = { sort: { organizationId: 1, _id: 1 }, limit: 1, fields: ['organizationId'] } as const
  for (let after = ''; ; ) {
    const query = { organizationId: { $gt: after } }
    const [found] = await Array.fromAsync(collections.forms.find(query, options))
    if (!found) return
    const { organizationId } = found
    yield { organizationId, forms: (await readUsage(collections, organizationId)).forms }
    after = organizationId
  }
}

/** Forms that are read in advance: no cursor stays open between two forms. */
const pageSize = 500

/** Deleted forms come last, with those restored meanwhile; one deleted meanwhile comes once. Index: forms_by_publicId. */
export async function* exportForms(
  collections: FormsCollections,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  const deletedBefore = await Array.fromAsync(formsByPublicId(collections, organizationId, true))
  const exported = new Set<string>()
  for await (const { _id } of formsByPublicId(collections, organizationId, false)) {
    const record = await readRecord(collections, { organizationId, _id, isDeleted: false })
    if (!record) continue
    exported.add(_id)
    yield record
  }
  const deletedNow = await Array.fromAsync(formsByPublicId(collections, organizationId, true))
  const publicIds = new Map([...deletedBefore, ...deletedNow].map(({ _id, publicId }) => [_id, publicId]))
  for (const [_id] of [...publicIds].sort(([, a], [, b]) => (a < b ? -1 : 1))) {
    const record = exported.has(_id) ? undefined : await readRecord(collections, { organizationId, _id })
    if (record) yield record
  }
}

/** Ids of forms, ordered by `publicId`. @param more further fields. Without any, the engine reads only the index. */
export async function* formsByPublicId(
  { forms }: FormsCollections,
  organizationId: string,
  isDeleted: boolean,
  ...more: (keyof FormDocument)[]
): AsyncGenerator<FormDocument> {
  const options = { sort: { publicId: 1 }, limit: pageSize, fields: ['publicId', ...more] } as const
  for (let after = ''; ; ) {
    const query = { organizationId, isDeleted, publicId: { $gt: after } }
    const page = await Array.fromAsync(forms.find(query, options))
    yield* page
    if (page.length < pageSize) return
    after = page.at(-1)!.publicId
  }
}

/** A form with its revisions and replies, in one snapshot that a majority has. */
export const readRecord = (
  { database }: FormsCollections,
  query: { organizationId: string; _id: string; isDeleted?: boolean },
): Promise<FormRecord | undefined> => {
  const { organizationId } = query
  return retryOnConflict(
    () => database.transaction((transaction) => read(transaction, query)),
    () => updateAborted({ organizationId, formRef: formIdOf(query) }),
  )
}

const read = async (transaction: MongoTransaction, query: object): Promise<FormRecord | undefined> => {
  const form = await transaction.findOne<FormDocument>('forms', query)
  if (!form) return undefined
  const all = incarnationOf(form)
  const revisions = await transaction.find<RevisionDocument>('revisions', all, { sort: { number: 1 } })
  const replies = await transaction.find<ReplyDocument>('replies', all, { fields: ['replyId'] })
  const { _id, organizationId, isDeleted } = form
  const deletion =
    isDeleted && (await transaction.findOne<DeletionDocument>('deletions', { organizationId, _id }))
  return toFormRecord(toStoredForm(form), {
    ...form,
    revisions: revisions.map(toStoredRevision),
    replyIds: replies.map(({ replyId }) => replyId),
    deletion: deletion ? toDeletion(deletion) : undefined,
  })
}
