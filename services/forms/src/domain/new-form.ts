import { randomUUIDv7 } from 'node:crypto'
import { nilUuid } from '@fms/contracts'
import { type ChangedForm, makePublicId, type StoredDraft, type StoredForm } from '@fms/forms-store'
import type { ChangedDraft } from './write-draft.ts'

/** Placeholders for the ids in the response to a dry run (AIP-163). */
export const unknownIds = { formId: nilUuid, publicId: '' }

/** The ids of a new form. By default a UUIDv7: consecutive ids are neighbours in an index. */
export const newIds = (formId: string = randomUUIDv7()) => ({ formId, publicId: makePublicId() })

export const newForm = (
  organizationId: string,
  draft: StoredDraft,
  now: Date,
  ids = newIds(),
): StoredForm => ({
  organizationId,
  ...ids,
  createTime: now,
  updateTime: now,
  version: 1,
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
