import type { FormRecord } from '@fms/contracts'
import { retryOnConflict, writeConflict } from '@fms/store-kit/mongodb'
import { updateAborted } from '../../errors.ts'
import type { OrganizationForms } from '../../forms-store.ts'
import { toFormRecord } from '../../stored-form-record.ts'
import {
  type FormsCollections,
  formKey,
  incarnationOf,
  toStoredForm,
  toStoredRevision,
  visibleRevisions,
} from '../documents.ts'

/** The organizations that have forms. */
export async function* listOrganizations(collections: FormsCollections): AsyncGenerator<OrganizationForms> {
  for await (const organizationId of listOrganizationIds(collections)) {
    yield { organizationId, forms: await collections.forms.count({ organizationId }) }
  }
}

/** The ids of the organizations that have forms. Index: forms_by_publicId_and_id, one query per organization. */
export async function* listOrganizationIds({ forms }: FormsCollections): AsyncGenerator<string> {
  const sort = { organizationId: 1, publicId: 1 } as const
  for (let after = ''; ; ) {
    const query = { organizationId: { $gt: after } }
    const [first] = await Array.fromAsync(forms.find(query, { sort, limit: 1, fields: ['organizationId'] }))
    if (!first) return
    after = first.organizationId
    yield after
  }
}

/** Ids that are read in advance: no cursor stays open between two forms. */
const pageSize = 500

/** Index: forms_by_publicId_and_id. Reads one form at a time. */
export async function* exportForms(
  collections: FormsCollections,
  organizationId: string,
): AsyncGenerator<FormRecord> {
  for (let after = ''; ; ) {
    const found = collections.forms.find(
      { organizationId, publicId: { $gt: after } },
      { sort: { publicId: 1 }, limit: pageSize, fields: ['publicId'] },
    )
    const page = (await Array.fromAsync(found)).map(({ _id, publicId }) => ({ _id, publicId }))
    for (const { _id } of page) {
      const record = await readRecord(collections, { organizationId, formId: _id })
      if (record) yield record
    }
    if (page.length < pageSize) return
    after = page.at(-1)!.publicId
  }
}

/**
 * The form with its revisions and replies, in a consistent state: reads again when the form changed meanwhile. Indexes:
 * revisions_by_incarnation and replies_by_incarnation.
 *
 * @throws {ApiError} UPDATE_ABORTED when the form kept changing until the deadline.
 */
export const readRecord = (
  { forms, revisions, replies }: FormsCollections,
  { organizationId, formId }: { organizationId: string; formId: string },
): Promise<FormRecord | undefined> => {
  const attempt = async () => {
    const form = await forms.findOne({ organizationId, _id: formId })
    if (!form) return undefined
    const all = incarnationOf(form)
    const [found, counted] = await Promise.all([
      Array.fromAsync(revisions.find(visibleRevisions(form), { sort: { number: 1 } })),
      Array.fromAsync(replies.find(all)),
    ])
    const { version, replyCount, revisionNumber, liveNumber } = form
    const isSame = { ...formKey(form), version, replyCount, revisionNumber, liveNumber }
    if (!(await forms.has(isSame))) return writeConflict
    return toFormRecord(toStoredForm(form), {
      revisionNumber,
      liveNumber,
      liveRevisionId: form.liveRevisionId,
      revisions: found.map(toStoredRevision),
      replyIds: [...form.recentReplies, ...counted.map(({ replyId }) => replyId)],
    })
  }
  return retryOnConflict(attempt, () => updateAborted({ organizationId, formRef: formId }))
}
