import { writeConflict } from '@fms/store-kit/mongodb'
import type { FormRef, Quota, Snapshot, StoredForm } from '../../forms-store.ts'
import { type FormsCollections, formKey, type RevisionDocument, toStoredForm } from '../documents.ts'
import { findForm } from '../find-form.ts'
import { findRevisionOfCommand } from '../find-revision.ts'
import { addUsage, countWrite } from '../usage.ts'
import { insertRevision } from './insert-revision.ts'

export interface PublishCommand {
  ref: FormRef
  commandId: string
  snapshot: (current: StoredForm) => Snapshot | Promise<Snapshot>
  beforeStoring: (() => void) | undefined
}

/** Repeats a compare-and-set of a form until it succeeds, or ABORTED. */
type RetryOnConflict = <T>(ref: FormRef, attempt: () => Promise<T | typeof writeConflict>) => Promise<T>

/**
 * Publishes in repeatable steps: docs/decisions/0001-publish-in-repeatable-steps.md. Indexes: that of `_id`, and
 * revisions_by_command.
 */
export const publishForm = async (
  collections: FormsCollections,
  quota: Quota,
  command: PublishCommand,
  retry: RetryOnConflict,
): Promise<StoredForm | 'elsewhere' | undefined> => {
  const { ref, commandId } = command
  const { organizationId } = ref
  const earlier = await findRevisionOfCommand(collections, organizationId, commandId)
  if (earlier) {
    const form = await findForm(collections, ref, ['organizationId'])
    if (!form) return undefined
    if (earlier.formId !== form._id) return 'elsewhere'
    const isDurable = await collections.revisions.confirm({ organizationId, _id: earlier._id })
    return isDurable ? moveLive(collections, earlier, retry) : publishForm(collections, quota, command, retry)
  }

  const taken = await retry(ref, () => takeRevisionNumber(collections, quota, command))
  if (!taken) return undefined
  const revision = { ...taken.revision, organizationId, commandId }
  switch (await storeRevision(collections, revision, command.beforeStoring)) {
    case 'gone':
      return undefined
    case 'exists':
      // A concurrent delivery of the command, or another command with the same id, stored its revision first.
      return publishForm(collections, quota, command, retry)
    case 'inserted': {
      const moved = await moveLive(collections, { ...revision, _id: revision.revisionId }, retry)
      return moved && taken.published
    }
  }
}

/** A snapshot with its number, and the form as published. */
interface TakenSnapshot {
  revision: Snapshot & { formId: string; number: number }
  published: StoredForm
}

/** Takes the snapshot and the form's next number in one compare-and-set: later snapshots get higher numbers. */
const takeRevisionNumber = async (
  collections: FormsCollections,
  quota: Quota,
  { ref, snapshot }: PublishCommand,
): Promise<TakenSnapshot | undefined | typeof writeConflict> => {
  const form = await findForm(collections, ref)
  if (!form) return undefined
  const { version, revisionNumber } = form
  const current = toStoredForm(form)
  const revision = { ...(await snapshot(current)), formId: form._id, number: revisionNumber + 1 }
  const growth = { forms: 0, bytes: Buffer.byteLength(revision.formJson) }
  const isTaken = await countWrite(collections, quota, form.organizationId, growth, () =>
    collections.forms.set({ ...formKey(form), version, revisionNumber }, { revisionNumber: revision.number }),
  )
  return isTaken ? { revision, published: { ...current, live: true } } : writeConflict
}

/** Inserts the revision, whose bytes are counted already; subtracts them where nothing was inserted. */
const storeRevision = async (
  collections: FormsCollections,
  revision: Parameters<typeof insertRevision>[1],
  beforeStoring: (() => void) | undefined,
): Promise<'inserted' | 'exists' | 'gone'> => {
  const bytes = -Buffer.byteLength(revision.formJson)
  const subtractUsage = () => addUsage(collections, revision.organizationId, { forms: 0, bytes })
  try {
    beforeStoring?.()
  } catch (error) {
    await subtractUsage()
    throw error
  }
  const outcome = await insertRevision(collections, revision)
  if (outcome !== 'inserted') await subtractUsage()
  return outcome
}

/** Moves `live` to a revision unless a later one is live. @returns the form, or undefined when it is deleted. */
const moveLive = (
  { forms }: FormsCollections,
  {
    organizationId,
    formId,
    _id,
    number,
  }: Pick<RevisionDocument, 'organizationId' | 'formId' | '_id' | 'number'>,
  retry: RetryOnConflict,
): Promise<StoredForm | undefined> => {
  const key = { organizationId, _id: formId }
  return retry({ organizationId, formRef: formId }, async () => {
    const moved = await forms.setAndGet(
      { ...key, liveNumber: { $lt: number } },
      { liveRevisionId: _id, liveNumber: number },
    )
    const form = moved ?? (await forms.findOne(key))
    return form && toStoredForm(form)
  })
}
