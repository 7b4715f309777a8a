import type { Json } from './json.ts'

/** Serializes JSON in canonical form (RFC 8785): equal values have equal texts. Omits members that are `undefined`. */
export const canonicalJson = (value: Json): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members: string[] = []
  // The default order compares UTF-16 code units, as RFC 8785 §3.2.3 requires.
  for (const name of Object.keys(value).sort()) {
    const member = value[name]
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}
