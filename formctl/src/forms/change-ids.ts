import { randomUUID } from 'node:crypto'
import { type FormRecord, formPath } from '@fms/contracts'
import { makePublicId } from '@fms/forms-store'

interface Ids {
  organizationId: string
  formId: string
  publicId: string
}

/** The form with other ids, also in the snapshots of its revisions. */
const withIds = (record: FormRecord, ids: Ids): FormRecord => ({
  ...record,
  ...ids,
  revisions: record.revisions.map((revision) => ({
    ...revision,
    form: {
      ...revision.form,
      path: formPath(ids),
      publicId: ids.publicId,
      publicUrl: withPublicId(revision.form.publicUrl, record.publicId, ids.publicId),
    },
  })),
})

const withPublicId = (url: string, old: string, publicId: string) =>
  url.endsWith(`/${old}`) ? url.slice(0, -old.length) + publicId : url

/** The form in another organization, otherwise unchanged. */
export const toOrganization = (record: FormRecord, organizationId: string): FormRecord =>
  withIds(record, { ...record, organizationId })

type Deletion = NonNullable<FormRecord['deletion']>

/** A delete by an operator that can be undone for as long as the given one. */
const deletedAt = ({ deleteTime, purgeTime }: Deletion, now: Date): Deletion => {
  const ms = Date.parse(purgeTime) - Date.parse(deleteTime)
  return {
    deleteTime: now.toISOString(),
    purgeTime: new Date(now.getTime() + ms).toISOString(),
    deleter: '',
  }
}

/**
 * A new form with the same draft and revisions: fresh ids, all times set to `now`, no replies, and neither publishers nor a
 * deleter, because an operator makes these changes. A deleted form can be restored for as long as the original after its
 * delete.
 */
export const toNewForm = (record: FormRecord, now: Date): FormRecord => {
  const time = now.toISOString()
  const ids = { organizationId: record.organizationId, formId: randomUUID(), publicId: makePublicId() }
  const revisions = record.revisions.map(({ publisher: _, ...revision }) => ({
    ...revision,
    revisionId: randomUUID(),
    commandId: randomUUID(),
    createTime: time,
    form: { ...revision.form, createTime: time, updateTime: time, replyCount: 0 },
  }))
  const live = revisions.find(({ number }) => number === record.live?.number)
  return withIds(
    {
      ...record,
      createTime: time,
      updateTime: time,
      version: 1,
      revisions,
      live: live ? { revisionId: live.revisionId, number: live.number } : null,
      replyCount: 0,
      replyIds: [],
      ...(record.deletion && { deletion: deletedAt(record.deletion, now) }),
    },
    ids,
  )
}
