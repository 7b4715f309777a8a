import type { ReadMask } from '@fms/aip'
import { type Form, formPath } from '@fms/contracts'
import type { FormSummary } from '../forms-store.ts'

type ToJson = (form: FormSummary, publicFormBaseUrl: string) => string

/** The members that the store has outside of the draft, in the order of the resource. Ids and times need no escaping. */
const members = {
  name: ({ name }) => JSON.stringify(name),
  type: ({ type }) => `"${type}"`,
  createTime: ({ createTime }) => `"${createTime.toISOString()}"`,
  live: ({ live }) => `${live}`,
  path: (form) => `"${formPath(form)}"`,
  publicId: ({ publicId }) => `"${publicId}"`,
  publicUrl: (form, publicFormBaseUrl) => JSON.stringify(publicUrl(form, publicFormBaseUrl)),
  replyCount: ({ replyCount }) => `${replyCount}`,
  updateTime: ({ updateTime }) => `"${updateTime.toISOString()}"`,
} as const satisfies Partial<Record<keyof Form, ToJson>>

/** Whether a mask has only members that the store has outside of the draft. */
export const isOfSummary = (mask: ReadMask): boolean =>
  mask.keys().every((name) => Object.hasOwn(members, name))

/**
 * A function that writes the JSON text of a form without its draft.
 *
 * @param publicFormBaseUrl without a trailing slash.
 * @param mask for which {@link isOfSummary} holds.
 */
export const summaryWriter = (publicFormBaseUrl: string, mask: ReadMask): ((form: FormSummary) => string) => {
  const chosen = Object.entries<ToJson>(members).filter(([name]) => mask.has(name))
  const parts = chosen.map(([name, toJson], index) => [`${index > 0 ? ',' : ''}"${name}":`, toJson] as const)
  return (form) => {
    let json = '{'
    for (const [name, toJson] of parts) json += name + toJson(form, publicFormBaseUrl)
    return `${json}}`
  }
}

/** Empty for the form of a dry run, which has no public id. */
export const publicUrl = ({ publicId }: Pick<FormSummary, 'publicId'>, publicFormBaseUrl: string) =>
  publicId === '' ? '' : `${publicFormBaseUrl}/${publicId}`
