import { revisionMembers } from '../events/recorded-event.ts'
import type { Snapshot, StoredRevision } from '../forms-store.ts'
import { type Change, type ChangeOrigin, changeOf, type FoundForm, growthOfRevisions } from './change.ts'

export const publishForm = (
  found: FoundForm,
  snapshot: Snapshot,
  { commandId, beforeStoring }: { commandId: string; beforeStoring?: (() => void) | undefined },
  origin: ChangeOrigin,
): Change => {
  const { organizationId, formId } = found
  const number = found.revisionNumber + 1
  const revision: StoredRevision = { ...snapshot, organizationId, formId, commandId, number }
  return changeOf(
    found,
    {
      form: { set: { revisionNumber: number, ...liveIn(revision) } },
      revisions: [revision],
      growth: growthOfRevisions([revision]),
      event: publishEvent(found, revision),
      beforeStoring,
    },
    origin,
  )
}

/**
 * Makes a command's earlier revision live: an import may contain one that is not live yet.
 * @returns undefined if this or a later revision is live, or an unpublish came after it.
 */
export const republishForm = (
  found: FoundForm,
  revision: Pick<StoredRevision, 'revisionId' | 'number'>,
  origin: ChangeOrigin,
): Change | undefined => {
  if (found.liveNumber >= revision.number) return undefined
  const event = { ...publishEvent(found, revision), time: undefined }
  return changeOf(found, { form: { set: liveIn(revision) }, event }, origin)
}

const liveIn = ({ revisionId, number }: Pick<StoredRevision, 'revisionId' | 'number'>) => ({
  liveNumber: number,
  liveRevisionId: revisionId,
})

const publishEvent = (
  before: FoundForm,
  revision: Pick<StoredRevision, 'revisionId' | 'number'> & { createTime?: Date },
) =>
  ({
    type: 'form.published',
    before,
    after: { ...before, live: true },
    time: revision.createTime,
    more: revisionMembers(before, revision),
  }) as const
