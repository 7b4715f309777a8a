import type { JsonValue } from '@fms/client'
import { isEqual, isObject, type JsonObject, memberOf } from './values.ts'

/** The JSON Merge Patch (RFC 7396) that turns one object into another: only what differs, `null` for what is gone. */
export const patchBetween = (from: JsonObject, to: JsonObject): JsonObject => {
  const removed = Object.keys(from).filter((name) => !Object.hasOwn(to, name))
  const changed = Object.keys(to).filter((name) => !isEqual(memberOf(from, name), to[name]))
  // An assignment to `__proto__` would make no member.
  return Object.fromEntries<JsonValue>([
    ...removed.map((name) => [name, null] as const),
    ...changed.map((name) => [name, memberPatch(memberOf(from, name), to[name]!)] as const),
  ])
}

const memberPatch = (from: JsonValue | undefined, to: JsonValue): JsonValue =>
  isObject(from) && isObject(to) ? patchBetween(from, to) : to
