import { createHash } from 'node:crypto'

/** Members in an order of their own: engines and files may keep another. */
const sorted = (_name: string, value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/**
 * The SHA-256 of a record, hexadecimal: equal for records that are equal as JSON, in whatever order their members
 * stand. A long list is read item by item, so that its text as a whole may be longer than a string can be.
 */
export const recordDigest = (record: object): string => {
  const hash = createHash('sha256')
  const add = (value: unknown) => hash.update(JSON.stringify(value, sorted) ?? '').update('\n')
  for (const [name, value] of Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === undefined) continue
    add(name)
    if (Array.isArray(value)) {
      // No other value begins like this.
      hash.update(`[${value.length}]\n`)
      value.forEach(add)
    } else add(value)
  }
  return hash.digest('hex')
}
