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
  const changes = Object.entries(patch).map(([name, value]) => {
    const before = Object.hasOwn(current, name) ? current[name] : undefined
    return [name, value == null ? undefined : mergePatch(before, value)] as const
  })
  // Spread and fromEntries define members and never assign them, so `__proto__` is a name like any other.
  return { ...current, ...Object.fromEntries(changes) }
}
