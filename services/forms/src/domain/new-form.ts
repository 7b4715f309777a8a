import { randomUUIDv7 } from 'node:crypto'
import { nilUuid } from '@fms/contracts'
import { type ChangedForm, makePublicId, type StoredDraft, type StoredForm } from '@fms/forms-store'
import type { ChangedDraft } from './write-draft.ts'

/** Placeholders for the ids in the response to a dry run (AIP-163). */
export const unknownIds = { formId: nilUuid, publicId: '' }

/** @param chosenId by the client. By default a UUIDv7: consecutive ids are neighbours in an index. */
export const newForm = (
  organizationId: string,
  draft: StoredDraft,
  now: Date,
  chosenId?: string,
): StoredForm => ({
  organizationId,
  formId: chosenId ?? randomUUIDv7(),
  publicId: makePublicId(),
  createTime: now,
  updateTime: now,
  // A chosen id may be that of a purged form, whose ETags must not come back.
  version: chosenId === undefined ? 1 : now.getTime(),
  replyCount: 0,
  live: false,
  ...draft,
})

/** The form with a new draft and the next version. Its `updateTime` strictly increases, even if the clock goes back. */
export const changedForm = (current: StoredForm, draft: ChangedDraft, now: Date): ChangedForm => ({
  ...current,
  ...draft,
  version: current.version + 1,
  updateTime: new Date(Math.max(now.getTime(), current.updateTime.getTime() + 1)),
})
