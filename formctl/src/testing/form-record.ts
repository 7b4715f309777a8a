import { randomInt, randomUUID } from 'node:crypto'
import { FormDraft, type FormRecord, formPath } from '@fms/contracts'
import { makePublicId } from '@fms/forms-store'

const start = Date.UTC(2026, 10, 20, 9, 30)

const time = (ms: number) => new Date(start + ms).toISOString()

/** A `purgeTime` that tests never reach. */
const farFuture = '2100-01-01T00:00:00.000Z'

/** A form record for tests. @param revisions number of revisions; the last is live, and every second one has a note. @param replies number of replies. @param isDeleted whether the form is deleted and can be restored. */
export const newFormRecord = ({
  organizationId = randomUUID() as string,
  revisions = 0,
  replies = 0,
  isDeleted = false,
}: {
  organizationId?: string
  revisions?: number
  replies?: number
  isDeleted?: boolean
} = {}): FormRecord => {
  const ids = { organizationId, formId: randomUUID() as string, publicId: makePublicId() }
  const draft = FormDraft.parse({
    name: `Intake ${randomInt(1000)}`,
    steps: [{ type: 'text', key: 'q1', 'a.b': { $c: '\0😀' } }],
  })
  const times = { createTime: time(0), updateTime: time(revisions) }
  const snapshots = Array.from({ length: revisions }, (_, index) => ({
    revisionId: randomUUID() as string,
    number: index + 1,
    commandId: randomUUID() as string,
    createTime: time(index + 1),
    ...(index % 2 === 0 && { publisher: `users/${randomUUID()}`, note: 'Noted "😀"\n' }),
    form: {
      ...draft,
      ...times,
      live: true,
      path: formPath(ids),
      publicId: ids.publicId,
      publicUrl: `https://forms.example/f/${ids.publicId}`,
      replyCount: index,
    },
  }))
  const last = snapshots.at(-1)
  return {
    ...ids,
    ...times,
    version: revisions + 1,
    draft,
    revisionNumber: revisions,
    live: last ? { revisionId: last.revisionId, number: last.number } : null,
    revisions: snapshots,
    replyCount: replies,
    replyIds: Array.from({ length: replies }, () => randomUUID() as string).sort(),
    ...(isDeleted && {
      deletion: { deleteTime: time(3_600_000), purgeTime: farFuture, deleter: `users/${randomUUID()}` },
    }),
  }
}
