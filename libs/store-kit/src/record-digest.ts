import { createHash } from 'node:crypto'

/** Sorts the members of objects, whose order differs between engines and files. */
const sortMembers = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/**
 * Computes the SHA-256 of a record in hexadecimal. Records that are equal as JSON have equal digests, whatever the
 * order of their members. Arrays at the top are hashed item by item, so their JSON may exceed the maximum string length.
 */
export const recordDigest = (record: object): string => {
  const hash = createHash('sha256')
  const add = (value: unknown) => hash.update(JSON.stringify(value, sortMembers) ?? '').update('\n')
  for (const [name, value] of Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined) continue
    add(name)
    if (Array.isArray(value)) {
      // No other value begins like this, so an array differs from its items.
      hash.update(`[${value.length}]\n`)
      value.forEach(add)
    } else add(value)
  }
  return hash.digest('hex')
}
