import { randomUUID } from 'node:crypto'
import { type Form, type FormDraft, type FormRecord, formPath } from '@fms/contracts'

/** The parts of a sample form that matter to its test. */
export interface SampleForm {
  organizationId: string
  formId: string
  publicId: string
  draft: FormDraft
  /** Time of the creation, the last update and every publish, RFC 3339 UTC. */
  time: string
  /** Number of revisions, each a snapshot of the draft. The last one is live. Default: 0. */
  revisions?: number
  /** Number of replies that are counted. Default: 0. */
  replies?: number
}

/** A form in the shape that `FormsStore.importForm` takes. */
export const sampleFormRecord = ({
  organizationId,
  formId,
  publicId,
  draft,
  time,
  revisions: revisionCount = 0,
  replies = 0,
}: SampleForm): FormRecord => {
  const form = {
    ...draft,
    path: formPath({ organizationId, formId }),
    publicId,
    publicUrl: `http://127.0.0.1:8080/f/${publicId}`,
    createTime: time,
    updateTime: time,
    live: true,
    replyCount: 0,
  } as Form
  const revisions = Array.from({ length: revisionCount }, (_, index) => ({
    revisionId: randomUUID(),
    number: index + 1,
    commandId: randomUUID(),
    createTime: time,
    form,
  }))
  const live = revisions.at(-1)
  return {
    organizationId,
    formId,
    publicId,
    createTime: time,
    updateTime: time,
    version: 1,
    draft,
    revisionNumber: revisionCount,
    live: live ? { revisionId: live.revisionId, number: live.number } : null,
    revisions,
    replyCount: replies,
    replyIds: Array.from({ length: replies }, () => randomUUID()),
  }
}
