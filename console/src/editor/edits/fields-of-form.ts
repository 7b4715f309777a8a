import type { Form, FormType, ServerOwnedFields } from '@fms/client'
import { isObject, type JsonObject } from '../../json/values.ts'

const outputOnly = {
  createTime: true,
  live: true,
  path: true,
  publicId: true,
  publicUrl: true,
  replyCount: true,
  updateTime: true,
} satisfies Record<keyof ServerOwnedFields, true>

export const formTypes = ['structured', 'dynamic'] as const satisfies FormType[]

/** Names in the order in which people look for them; further ones follow. */
const first = ['name', 'description', 'type', 'defaultMode', 'tone', 'steps', 'theme']

/** The fields of a form that its maker writes. */
export const fieldsOf = (form: Form): JsonObject => {
  const names = [...first, ...Object.keys(form).filter((name) => !first.includes(name))]
  // A form is JSON: its type has no index signature.
  const members = form as unknown as JsonObject
  return Object.fromEntries(
    names
      .filter((name) => !Object.hasOwn(outputOnly, name) && name in form)
      .map((name) => [name, members[name]!]),
  )
}

/** The text of the JSON editor. */
export const textOf = (fields: JsonObject): string => JSON.stringify(fields, null, 2)

/** Reads what someone typed. @returns undefined if it is no JSON object. */
export const parseFields = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
