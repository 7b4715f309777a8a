import type { Json, JsonObject } from './json.ts'

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Applies a JSON Merge Patch (RFC 7396). A removed member stays as a key with the value `undefined`, so that a strict
 * schema can reject unknown names in the patch. `undefined` in a patch means `null`.
 *
 * Pure; the result may share parts of both. Recurses to the depth of the patch, which `parseJson` limits.
 */
export const mergePatch = (target: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch
  const current = isObject(target) ? target : {}
  const merged: JsonObject = { ...current }
  for (const [name, value] of Object.entries(patch)) {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    setMember(merged, name, value == null ? undefined : mergePatch(before, value))
  }
  return merged
}

/** Defines `__proto__` as an own member: an assignment would set the prototype. */
const setMember = (object: JsonObject, name: string, value: JsonObject[string]): void => {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
