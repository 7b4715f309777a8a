import type { Actor, FormRecord } from '@fms/contracts'
import type { DeletedForm } from '../forms-store.ts'

export type Deletion = Pick<DeletedForm, 'deleteTime' | 'purgeTime' | 'deleter'>

const msPerDay = 24 * 60 * 60 * 1_000

/** The deletion of a form that can be restored for some days; undefined for 0. */
export const newDeletion = (deleteTime: Date, days: number, actor: Actor): Deletion | undefined => {
  if (days === 0) return undefined
  const purgeTime = new Date(deleteTime.getTime() + Math.ceil(days * msPerDay))
  return { deleteTime, purgeTime, deleter: 'user' in actor ? actor.user : '' }
}

export const fromDeletionRecord = (deletion: NonNullable<FormRecord['deletion']>): Deletion => ({
  deleteTime: new Date(deletion.deleteTime),
  purgeTime: new Date(deletion.purgeTime),
  deleter: deletion.deleter,
})

export const purgeTimeMember = (deletion: Deletion | undefined) =>
  deletion && { purgeTime: deletion.purgeTime.toISOString() }
