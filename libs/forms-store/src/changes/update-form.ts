import { changedFields, revisionMembers } from '../events/recorded-event.ts'
import type { ChangedForm, RestoredRevision, StoredForm } from '../forms-store.ts'
import { parseDraft } from '../stored-draft.ts'
import { type Change, type ChangeOrigin, changeOf, type FoundDraft } from './change.ts'

/** Stores another draft. @param restored the revision of a rollback; undefined for an update. */
export const updateForm = (
  found: FoundDraft,
  { changedFields: known, ...form }: ChangedForm,
  restored: RestoredRevision | undefined,
  origin: ChangeOrigin,
): Change & { after: StoredForm } => {
  const fields = known ?? changedFields(parseDraft(found.form), parseDraft(form))
  const after = { ...form, replyCount: found.replyCount, live: found.live }
  const event = { before: found, after, time: after.updateTime }
  const change = changeOf(
    found,
    {
      form: { set: { draft: after } },
      growth: { bytes: Buffer.byteLength(after.draftJson) - found.draftBytes },
      event: restored
        ? { ...event, type: 'form.rolledBack', more: { ...revisionMembers(found, restored), fields } }
        : { ...event, type: 'form.updated', more: { fields } },
    },
    origin,
  )
  return { ...change, after }
}
