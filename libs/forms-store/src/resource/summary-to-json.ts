import type { ReadMask } from '@fms/aip'
import {
  type DraftSummaryField,
  draftSummaryFields,
  type Form,
  formPath,
  outputOnlyFields,
} from '@fms/contracts'
import type { FormState, FormSummary } from '../forms-store.ts'

type OutputOnlyField = (typeof outputOnlyFields)[number]

const outputOnly: {
  [Name in OutputOnlyField]: (form: FormState, publicFormBaseUrl: string) => Form[Name]
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
export const outputOnlyMembers = (form: FormState, publicFormBaseUrl: string) => {
  const found: Record<string, string | number | boolean> = {}
  for (const name of outputOnlyFields) found[name] = outputOnly[name](form, publicFormBaseUrl)
  return found as Pick<Form, OutputOnlyField>
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
