import type { JsonValue } from '@fms/client'

export type JsonObject = { [member: string]: JsonValue }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether two JSON values are equal. The order of members does not count. */
export const isEqual = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqual(a[name], b[name]))
  )
}

/** A member of an object itself: not what every object inherits, such as `toString`. */
export const memberOf = (object: JsonObject, name: string): JsonValue | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined

/** The value if it is a string, else `""`. What people type as JSON may be anything. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '')

/** The value if it is an array, else an empty one. */
export const asList = (value: unknown): JsonValue[] => (Array.isArray(value) ? value : [])

/** The value if it is an object, else an empty one. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
