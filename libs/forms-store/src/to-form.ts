import { formatETag } from '@fms/aip'
import { type Form, formPath, liveAlias, type Revision } from '@fms/contracts'
import type { FormState, FormText, LiveOrNot, StoredForm } from './forms-store.ts'

/** The resource that clients read. @param publicFormBaseUrl without a trailing slash. */
export const toForm = (stored: StoredForm, publicFormBaseUrl: string): Form => ({
  ...stored.draft,
  ...serverOwnedPart(stored, publicFormBaseUrl),
})

/** The JSON text of {@link toForm}, written without reading the draft. Ids and times hold nothing to escape. */
export const renderForm = (form: FormText, publicFormBaseUrl: string): string =>
  // A draft is an object with members, since its defaults are stored with it.
  `${form.draftJson.slice(0, -1)},"createTime":"${form.createTime.toISOString()}","live":${form.live},` +
  `"path":"${formPath(form)}","publicId":"${form.publicId}",` +
  `"publicUrl":${JSON.stringify(publicUrl(form, publicFormBaseUrl))},` +
  `"replyCount":${form.replyCount},"updateTime":"${form.updateTime.toISOString()}"}`

const publicUrl = ({ publicId }: FormState, publicFormBaseUrl: string) => `${publicFormBaseUrl}/${publicId}`

const serverOwnedPart = (state: FormState, publicFormBaseUrl: string) => ({
  createTime: state.createTime.toISOString(),
  live: state.live,
  path: formPath(state),
  publicId: state.publicId,
  publicUrl: publicUrl(state, publicFormBaseUrl),
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
