import { formatETag } from '@fms/aip'
import { type Form, formPath, liveAlias, type Revision } from '@fms/contracts'
import type { FormState, FormText, LiveOrNot, StoredForm } from './forms-store.ts'

/** The resource that clients read. @param publicFormBaseUrl without a trailing slash. */
export const toForm = (stored: StoredForm, publicFormBaseUrl: string): Form => ({
  ...stored.draft,
  ...serverOwnedPart(stored, publicFormBaseUrl),
})

/** The JSON text of {@link toForm}, written without reading the draft. */
export const renderForm = ({ draftJson, ...state }: FormText, publicFormBaseUrl: string): string =>
  // A draft is an object with members, since its defaults are stored with it.
  `${draftJson.slice(0, -1)},${JSON.stringify(serverOwnedPart(state, publicFormBaseUrl)).slice(1)}`

/**
 * The JSON text of {@link toForm}. Draft and the rest are written apart: together they have more members than V8 writes
 * fast.
 */
export const writeForm = ({ draft, ...state }: StoredForm, publicFormBaseUrl: string): string =>
  renderForm({ ...state, draftJson: JSON.stringify(draft) }, publicFormBaseUrl)

export const parseDraft = ({ draftJson, ...state }: FormText): StoredForm => ({
  ...state,
  draft: JSON.parse(draftJson),
})

const serverOwnedPart = (state: FormState, publicFormBaseUrl: string) => ({
  createTime: state.createTime.toISOString(),
  live: state.live,
  path: formPath(state),
  publicId: state.publicId,
  publicUrl: `${publicFormBaseUrl}/${state.publicId}`,
  replyCount: state.replyCount,
  updateTime: state.updateTime.toISOString(),
})

/** Begins with the draft's version, which alone `If-Match` compares; the whole covers `live` and `replyCount` too. */
export const formETag = ({ version, live, replyCount }: FormState): string =>
  formatETag(version, `${live ? 'live' : 'draft'}.${replyCount}`)

/** The resource that clients read. */
export const toRevision = ({ revision, live }: LiveOrNot): Revision => ({
  path: `${formPath(revision)}/revisions/${revision.revisionId}`,
  alternateIds: live ? [liveAlias] : [],
  createTime: revision.createTime.toISOString(),
  form: revision.form,
})
