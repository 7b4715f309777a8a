import type { JsonValue } from '@fms/client'
import { isEqual, isObject, type JsonObject } from './values.ts'

/** An element that its `key` identifies, such as a step. */
export type Keyed = JsonObject & { key: string }

/** Whether a value is a list of objects with unique keys. */
export const isKeyed = (value: JsonValue | undefined): value is Keyed[] =>
  Array.isArray(value) &&
  value.every((item) => isObject(item) && typeof item.key === 'string') &&
  new Set(value.map((item) => (item as Keyed).key)).size === value.length

/** The keys of the elements that both lists have, in the order of the first one. */
export const commonKeys = (list: readonly Keyed[], other: readonly Keyed[]): string[] => {
  const keys = new Set(other.map(({ key }) => key))
  return list.map(({ key }) => key).filter((key) => keys.has(key))
}

/** Whether the elements that both lists have are in the same order. */
export const isSameOrder = (a: readonly Keyed[], b: readonly Keyed[]): boolean =>
  isEqual(commonKeys(a, b), commonKeys(b, a))
