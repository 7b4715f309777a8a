import type { ReadMask } from '@fms/aip'
import { type Form, formPath } from '@fms/contracts'
import type { FormSummary } from '../forms-store.ts'
import { toRfc3339 } from './to-rfc3339.ts'

type Read = (form: FormSummary, publicFormBaseUrl: string) => string | number | boolean

/** The members that the store has outside of the draft, in the order of the resource. */
const members = {
  name: ({ name }) => name,
  type: ({ type }) => type,
  createTime: ({ createTime }) => toRfc3339(createTime),
  live: ({ live }) => live,
  path: (form) => formPath(form),
  publicId: ({ publicId }) => publicId,
  publicUrl: (form, publicFormBaseUrl) => publicUrl(form, publicFormBaseUrl),
  replyCount: ({ replyCount }) => replyCount,
  updateTime: ({ updateTime }) => toRfc3339(updateTime),
} as const satisfies Partial<Record<keyof Form, Read>>

/** Whether a mask has only members that the store has outside of the draft. */
export const isOfSummary = (mask: ReadMask): boolean =>
  mask.keys().every((name) => Object.hasOwn(members, name))

/**
 * A function that returns the JSON text of a form without its draft.
 *
 * @param publicFormBaseUrl without a trailing slash.
 * @param mask for which {@link isOfSummary} holds.
 */
export const summaryWriter = (publicFormBaseUrl: string, mask: ReadMask): ((form: FormSummary) => string) => {
  const chosen = Object.entries<Read>(members).filter(([name]) => mask.has(name))
  return (form) => {
    const resource: Record<string, string | number | boolean> = {}
    for (const [name, read] of chosen) resource[name] = read(form, publicFormBaseUrl)
    return JSON.stringify(resource)
  }
}

/** Empty for the form of a dry run, which has no public id. */
export const publicUrl = ({ publicId }: Pick<FormSummary, 'publicId'>, publicFormBaseUrl: string) =>
  publicId === '' ? '' : `${publicFormBaseUrl}/${publicId}`
