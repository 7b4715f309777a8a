import { type Change, type ChangeOrigin, changeOf, type FoundForm } from './change.ts'
import { newDeletion, purgeTimeMember } from './deletion.ts'

/** Deletes a form. @param days how long it can be restored; 0 removes it at once. */
export const deleteForm = (found: FoundForm, days: number, origin: ChangeOrigin): Change => {
  const deletion = newDeletion(origin.time, days, origin.context.actor)
  const event = { type: 'form.deleted', before: found, more: purgeTimeMember(deletion) } as const
  return deletion
    ? changeOf(found, { form: { set: { deletion } }, growth: { forms: -1 }, event }, origin)
    : changeOf(
        found,
        { form: { remove: true }, growth: { forms: -1, bytes: -found.draftBytes }, event },
        origin,
      )
}

export const undeleteForm = (found: FoundForm, origin: ChangeOrigin): Change =>
  changeOf(
    found,
    {
      form: { set: { deletion: null } },
      growth: { forms: 1 },
      event: { type: 'form.undeleted', after: found },
    },
    origin,
  )

export const purgeForm = (found: FoundForm, origin: ChangeOrigin): Change =>
  changeOf(
    found,
    { form: { remove: true }, growth: { bytes: -found.draftBytes }, event: { type: 'form.purged' } },
    origin,
  )
