import { formatETag } from '@fms/aip'
import { type Form, formPath, liveAlias } from '@fms/contracts'
import type { FormState, ListedRevision, RevisionState, StoredForm } from '../forms-store.ts'
import { parseDraft } from '../stored-draft.ts'
import { formatTime } from './format-time.ts'

/** The resource that clients read. @param publicFormBaseUrl without a trailing slash. */
export const toForm = (stored: StoredForm, publicFormBaseUrl: string): Form => ({
  ...parseDraft(stored),
  ...serverOwnedPart(stored, publicFormBaseUrl),
})

/** A resource as JSON, in parts that follow each other: text, and bytes of UTF-8. */
export type JsonParts = (string | Uint8Array)[]

/** The JSON text of {@link toForm}, written without reading the draft. */
export const formToJson = (form: StoredForm, publicFormBaseUrl: string): string =>
  // A draft is an object with members, since its defaults are stored with it.
  form.draftJson.slice(0, -1) + renderRest(form, publicFormBaseUrl)

/** What {@link formToJson} gives, with the draft as the bytes that it came in. */
export const formToJsonParts = (form: StoredForm, publicFormBaseUrl: string): JsonParts =>
  form.jsonBytes
    ? [form.jsonBytes.subarray(0, -1), renderRest(form, publicFormBaseUrl)]
    : [formToJson(form, publicFormBaseUrl)]

/** What follows the members of the draft. Ids and times hold nothing to escape. */
const renderRest = (form: FormState, publicFormBaseUrl: string): string =>
  `,"createTime":"${formatTime(form.createTime)}","live":${form.live},` +
  `"path":"${formPath(form)}","publicId":"${form.publicId}",` +
  `"publicUrl":${JSON.stringify(publicUrl(form, publicFormBaseUrl))},` +
  `"replyCount":${form.replyCount},"updateTime":"${formatTime(form.updateTime)}"}`

/** A form of a dry run has no public id, and is nowhere. */
const publicUrl = ({ publicId }: FormState, publicFormBaseUrl: string) =>
  publicId === '' ? '' : `${publicFormBaseUrl}/${publicId}`

const serverOwnedPart = (state: FormState, publicFormBaseUrl: string) => ({
  createTime: formatTime(state.createTime),
  live: state.live,
  path: formPath(state),
  publicId: state.publicId,
  publicUrl: publicUrl(state, publicFormBaseUrl),
  replyCount: state.replyCount,
  updateTime: formatTime(state.updateTime),
})

/** Begins with the draft's version, which alone `If-Match` compares; the whole covers `live` and `replyCount` too. */
export const formETag = ({ version, live, replyCount }: FormState): string =>
  formatETag(version, `${live ? 'live' : 'draft'}.${replyCount}`)

/**
 * A revision as clients read it, as JSON text, written without reading the snapshot.
 *
 * @param aiHandoff of the current draft where it takes the place of the snapshot's, as in `live`.
 */
export const revisionToJson = (found: ListedRevision, aiHandoff?: boolean): string => {
  const { formJson } = found.revision
  const form = aiHandoff === undefined ? formJson : withAiHandoff(formJson, aiHandoff)
  return `${renderHead(found)}${form}}`
}

/** What {@link revisionToJson} gives, with the snapshot as the bytes that it came in. */
export const revisionToJsonParts = (found: ListedRevision): JsonParts =>
  found.revision.jsonBytes ? [renderHead(found), found.revision.jsonBytes, '}'] : [revisionToJson(found)]

/** What stands before the snapshot. */
const renderHead = ({ revision, live }: ListedRevision): string =>
  `{"path":"${formPath(revision)}/revisions/${revision.revisionId}",` +
  `"alternateIds":${JSON.stringify(live ? [liveAlias] : [])},` +
  `"createTime":"${formatTime(revision.createTime)}","form":`

/** Drafts are stored with all members in one order, of which this is the first. */
const leadingAiHandoff = /^\{"aiHandoff":\{"enabled":(?:true|false)\}/

const withAiHandoff = (formJson: string, enabled: boolean): string =>
  leadingAiHandoff.test(formJson)
    ? formJson.replace(leadingAiHandoff, `{"aiHandoff":{"enabled":${enabled}}`)
    : JSON.stringify({ ...JSON.parse(formJson), aiHandoff: { enabled } })

/** Changes with all that can change of a revision: whether it is live, and what `live` shows of the current draft. */
export const revisionETag = ({ revisionId, live, aiHandoff }: RevisionState, isAlias: boolean): string =>
  `"${revisionId}-${live ? 'live' : 'past'}${isAlias ? `.${aiHandoff ? 'handoff' : 'plain'}` : ''}"`
