import { randomUUID } from 'node:crypto'
import { type FormRecord, formPath } from '@fms/contracts'
import { makePublicId } from '@fms/forms-store'

interface Ids {
  organizationId: string
  formId: string
  publicId: string
}

/** The same form under other ids. Its snapshots name it, too. */
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

/** The same form, of another organization. */
export const inOrganization = (record: FormRecord, organizationId: string): FormRecord =>
  withIds(record, { ...record, organizationId })

/**
 * A new form with the same draft and the same revisions: ids, times and counts are its own, and nobody has replied
 * to it yet.
 */
export const asNew = (record: FormRecord, now: Date): FormRecord => {
  const time = now.toISOString()
  const ids = { organizationId: record.organizationId, formId: randomUUID(), publicId: makePublicId() }
  const revisions = record.revisions.map((revision) => ({
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
    },
    ids,
  )
}
