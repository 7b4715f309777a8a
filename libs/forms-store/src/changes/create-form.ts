import type { StoredForm } from '../forms-store.ts'
import { type Change, type ChangeOrigin, growthOf, stamp } from './change.ts'

/** @param lastTime of an earlier form with this id. @param hasNewId whether there can be no such form. */
export const createForm = (
  form: StoredForm,
  lastTime: Date,
  hasNewId: boolean,
  origin: ChangeOrigin,
): Change => {
  const { organizationId, formId, createTime } = form
  const event = { type: 'form.created', after: form, time: createTime } as const
  const stamped = stamp(form, lastTime, event, origin)
  return {
    organizationId,
    formId,
    form: { insert: { form, revisionNumber: 0, liveNumber: 0, liveRevisionId: null, hasNewId } },
    growth: growthOf({ forms: 1, bytes: Buffer.byteLength(form.draftJson) }, stamped.event),
    ...stamped,
  }
}
