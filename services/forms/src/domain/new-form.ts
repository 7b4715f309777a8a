import { randomUUIDv7 } from 'node:crypto'
import { makePublicId, type StoredDraft, type StoredForm } from '@fms/forms-store'

/** What a dry run shows in place of ids that cannot be known yet (AIP-163). */
export const unknownIds = { formId: '00000000-0000-0000-0000-000000000000', publicId: '' }

/** A form in its first state, a draft that nobody sees. Its id begins with the time, as neighbours in an index do. */
export const newForm = (
  organizationId: string,
  draft: StoredDraft,
  now: Date,
  ids = { formId: randomUUIDv7() as string, publicId: makePublicId() },
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

/** The form's next state. Its `updateTime` is later than the one before, whatever the clock says. */
export const changedForm = (current: StoredForm, draft: StoredDraft, now: Date): StoredForm => ({
  ...current,
  ...draft,
  version: current.version + 1,
  updateTime: new Date(Math.max(now.getTime(), current.updateTime.getTime() + 1)),
})
