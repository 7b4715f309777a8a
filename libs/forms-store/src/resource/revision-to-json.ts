import { cutJson, type ReadMask } from '@fms/aip'
import { formPath, liveAlias } from '@fms/contracts'
import type { ListedRevision, RevisionState, StoredRevision } from '../forms-store.ts'

/** The JSON text of the form in a revision. @param aiHandoff replaces that of the snapshot, for `live`. */
export const snapshotToJson = (
  { formJson }: Pick<StoredRevision, 'formJson'>,
  aiHandoff?: boolean,
): string => (aiHandoff === undefined ? formJson : withAiHandoff(formJson, aiHandoff))

/** The JSON text of the Revision resource, without parsing the snapshot. @param aiHandoff as above. */
export const revisionToJson = (
  found: ListedRevision,
  { aiHandoff, mask }: { aiHandoff?: boolean | undefined; mask?: ReadMask | undefined } = {},
): string => {
  const json = `${revisionHead(found)}${snapshotToJson(found.revision, aiHandoff)}}`
  return mask ? cutJson(json, mask) : json
}

const revisionHead = ({ revision, live }: ListedRevision): string =>
  `{"path":"${formPath(revision)}/revisions/${revision.revisionId}",` +
  `"alternateIds":${JSON.stringify(live ? [liveAlias] : [])},` +
  `"createTime":"${revision.createTime.toISOString()}","number":${revision.number},` +
  `"publisher":${JSON.stringify(revision.publisher)},"note":${JSON.stringify(revision.note)},"form":`

/** The first member of a stored draft: all drafts have the same order of members. */
const leadingAiHandoff = /^\{"aiHandoff":\{"enabled":(?:true|false)\}/

const withAiHandoff = (formJson: string, enabled: boolean): string =>
  leadingAiHandoff.test(formJson)
    ? formJson.replace(leadingAiHandoff, `{"aiHandoff":{"enabled":${enabled}}`)
    : JSON.stringify({ ...JSON.parse(formJson), aiHandoff: { enabled } })

/** Begins ETags. Change it when revisions get other members. */
const membersTag = 'n'

/** The strong ETag of a revision: covers whether it is live and, for the alias, the AI Handoff of the current draft. */
export const revisionETag = ({ revisionId, live, aiHandoff }: RevisionState, isAlias: boolean): string =>
  `"${membersTag}-${revisionId}-${live ? 'live' : 'past'}${isAlias ? `.${aiHandoff ? 'handoff' : 'plain'}` : ''}"`
