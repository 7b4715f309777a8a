import type { Json, JsonObject } from './json.ts'

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Apply a JSON Merge Patch (RFC 7396): objects merge at every depth, all else is replaced whole, `null` removes.
 *
 * A removed member stays as a key whose value is `undefined`, in a new nested object too. As JSON the result is
 * exactly the RFC's; a strict schema still sees every name that the patch used and can refuse the unknown ones.
 * In a patch, `undefined` counts as `null`.
 *
 * Pure: neither argument changes, and the result may share parts of both. Recursion goes as deep as the patch,
 * which `parseJson` bounds.
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

/** To assign `__proto__` would be something else than to define it. */
const setMember = (object: JsonObject, name: string, value: JsonObject[string]): void => {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
