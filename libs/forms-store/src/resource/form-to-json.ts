import { cutJson, formatETag, type ReadMask } from '@fms/aip'
import {
  type DraftSummaryField,
  draftSummaryFields,
  type Form,
  formPath,
  outputOnlyFields,
} from '@fms/contracts'
import type { FormMetadata, FormSummary, StoredForm } from '../forms-store.ts'

/**
 * The JSON text of the Form resource, without parsing the draft. @param publicFormBaseUrl without a trailing slash.
 * @param mask the members; all by default.
 */
export const formToJson = (form: StoredForm, publicFormBaseUrl: string, mask?: ReadMask): string => {
  if (mask && isOfSummary(mask)) return summaryWriter(publicFormBaseUrl, mask)(form)
  // Drafts are stored with their defaults, so this object has at least one member.
  const json = `${form.draftJson.slice(0, -1)},${JSON.stringify(outputOnlyMembers(form, publicFormBaseUrl)).slice(1)}`
  return mask ? cutJson(json, mask) : json
}

/** The strong ETag of a form. `If-Match` compares only its first part, the draft's version; `If-None-Match` all of it. */
export const formETag = ({ version, live, replyCount }: FormMetadata): string =>
  formatETag(version, `${live ? 'live' : 'draft'}.${replyCount}`)

type OutputOnlyField = (typeof outputOnlyFields)[number]

const outputOnly: {
  [Name in OutputOnlyField]: (form: FormMetadata, publicFormBaseUrl: string) => Form[Name]
} = {
  createTime: ({ createTime }) => createTime.toISOString(),
  live: ({ live }) => live,
  path: formPath,
  publicId: ({ publicId }) => publicId,
  // Empty for the form of a dry run, which has no public id.
  publicUrl: ({ publicId }, publicFormBaseUrl) => (publicId === '' ? '' : `${publicFormBaseUrl}/${publicId}`),
  replyCount: ({ replyCount }) => replyCount,
  updateTime: ({ updateTime }) => updateTime.toISOString(),
}

/** The output-only members of a form, in the order of the resource. */
const outputOnlyMembers = (form: FormMetadata, publicFormBaseUrl: string) => {
  const found: Record<string, string | number | boolean> = {}
  for (const name of outputOnlyFields) found[name] = outputOnly[name](form, publicFormBaseUrl)
  return found
}

/** The members that the store has outside of the draft, in the order of the resource. */
const members: readonly (DraftSummaryField | OutputOnlyField)[] = [...draftSummaryFields, ...outputOnlyFields]

/** Whether a mask has only members that the store has outside of the draft. */
export const isOfSummary = (mask: ReadMask): boolean =>
  mask.keys().every((name) => (members as readonly string[]).includes(name))

/** Writes the JSON text of a form without its draft. @param mask for which {@link isOfSummary} holds. */
export const summaryWriter = (publicFormBaseUrl: string, mask: ReadMask): ((form: FormSummary) => string) => {
  const chosen = members.filter((name) => mask.has(name))
  return (form) => {
    const resource: Record<string, string | number | boolean> = {}
    for (const name of chosen)
      resource[name] = isOutputOnly(name) ? outputOnly[name](form, publicFormBaseUrl) : form[name]
    return JSON.stringify(resource)
  }
}

const isOutputOnly = (name: string): name is OutputOnlyField => Object.hasOwn(outputOnly, name)
