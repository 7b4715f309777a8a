import type { JsonValue } from '@fms/client'
import { isEqual, isObject, type JsonObject } from './values.ts'

/** The JSON Merge Patch (RFC 7396) that turns one object into another: only what differs, `null` for what is gone. */
export const patchBetween = (from: JsonObject, to: JsonObject): JsonObject => {
  const patch: JsonObject = {}
  for (const name of Object.keys(from)) if (!Object.hasOwn(to, name)) patch[name] = null
  for (const [name, value] of Object.entries(to)) {
    if (Object.hasOwn(from, name) && isEqual(from[name], value)) continue
    patch[name] = memberPatch(from[name], value)
  }
  return patch
}

const memberPatch = (from: JsonValue | undefined, to: JsonValue): JsonValue =>
  isObject(from) && isObject(to) ? patchBetween(from, to) : to
