import { formatETag } from '@fms/aip'
import { type Form, formPath, liveAlias, type Revision } from '@fms/contracts'
import type { LiveOrNot, StoredForm } from './forms-store.ts'

/** The resource that clients read. @param publicFormBaseUrl without a trailing slash. */
export const toForm = (stored: StoredForm, publicFormBaseUrl: string): Form => ({
  ...stored.draft,
  createTime: stored.createTime.toISOString(),
  live: stored.live,
  path: formPath(stored),
  publicId: stored.publicId,
  publicUrl: `${publicFormBaseUrl}/${stored.publicId}`,
  replyCount: stored.replyCount,
  updateTime: stored.updateTime.toISOString(),
})

/** Begins with the draft's version, which alone `If-Match` compares; the whole covers `live` and `replyCount` too. */
export const formETag = ({ version, live, replyCount }: StoredForm): string =>
  formatETag(version, `${live ? 'live' : 'draft'}.${replyCount}`)

/** The resource that clients read. */
export const toRevision = ({ revision, live }: LiveOrNot): Revision => ({
  path: `${formPath(revision)}/revisions/${revision.revisionId}`,
  alternateIds: live ? [liveAlias] : [],
  createTime: revision.createTime.toISOString(),
  form: revision.form,
})
