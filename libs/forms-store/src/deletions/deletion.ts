import type { Actor, FormRecord } from '@fms/contracts'
import type { EventForm } from '../events/recorded-event.ts'
import type { DeletedForm, FormState } from '../forms-store.ts'

/** When a form was deleted, by whom, and until when it can be restored. */
export type Deletion = Pick<DeletedForm, 'deleteTime' | 'purgeTime' | 'deleter'>

const msPerDay = 24 * 60 * 60 * 1_000

/**
 * The deletion of a form that can be restored.
 *
 * @param days how long it can be restored.
 * @returns undefined for 0 days: the form cannot be restored.
 */
export const newDeletion = (deleteTime: Date, days: number, actor: Actor): Deletion | undefined => {
  if (days === 0) return undefined
  const purgeTime = new Date(deleteTime.getTime() + Math.ceil(days * msPerDay))
  return { deleteTime, purgeTime, deleter: 'user' in actor ? actor.user : '' }
}

/** The deletion in a record of a deleted form. */
export const fromDeletionRecord = (deletion: NonNullable<FormRecord['deletion']>): Deletion => ({
  deleteTime: new Date(deletion.deleteTime),
  purgeTime: new Date(deletion.purgeTime),
  deleter: deletion.deleter,
})

/** The member `deletion` of a record. */
export const toDeletionRecord = ({
  deleteTime,
  purgeTime,
  deleter,
}: Deletion): NonNullable<FormRecord['deletion']> => ({
  deleteTime: deleteTime.toISOString(),
  purgeTime: purgeTime.toISOString(),
  deleter,
})

const purgeTimeMember = (deletion: Pick<Deletion, 'purgeTime'> | undefined) =>
  deletion ? { more: { purgeTime: deletion.purgeTime.toISOString() } } : {}

/** The content of the event of a delete. @param deletion undefined when the form cannot be restored. */
export const deleteChange = (before: FormState, time: Date, deletion?: Deletion) =>
  ({ type: 'form.deleted', before, time, ...purgeTimeMember(deletion) }) as const

/** The content of the event of an undelete. */
export const undeleteChange = (after: EventForm) =>
  ({ type: 'form.undeleted', after, time: new Date() }) as const

/** The content of the event of a purge. */
export const purgeChange = () => ({ type: 'form.purged', time: new Date() }) as const

/** The content of the event of an import. A deleted form has no ETag, because it is not visible. */
export const importChange = (form: EventForm, deletion?: Pick<Deletion, 'purgeTime'>) =>
  ({
    type: 'form.imported',
    ...(!deletion && { after: form }),
    time: new Date(),
    ...purgeTimeMember(deletion),
  }) as const
