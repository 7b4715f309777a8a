import { formNotLive } from '../errors.ts'
import { revisionMembers } from '../events/recorded-event.ts'
import type { FormRef } from '../forms-store.ts'
import { type Change, type ChangeOrigin, changeOf, type FoundForm } from './change.ts'

/** Raises `liveNumber`, so that no stored revision becomes live again. @throws {ApiError} FORM_NOT_LIVE. */
export const unpublishForm = (found: FoundForm, ref: FormRef, note: string, origin: ChangeOrigin): Change => {
  if (!found.live) throw formNotLive(ref)
  const live = { revisionId: found.liveRevisionId!, number: found.liveNumber }
  return changeOf(
    found,
    {
      form: { set: { liveNumber: found.revisionNumber, liveRevisionId: null } },
      event: {
        type: 'form.unpublished',
        before: found,
        after: { ...found, live: false },
        more: { ...revisionMembers(found, live), ...(note !== '' && { note }) },
      },
    },
    origin,
  )
}
