/**
 * The URL path of a resource.
 *
 * @param parts the collections with the reference to a resource in each: an id, another reference of the API, or a
 *   `path`.
 * @throws {TypeError} for the references `""`, `.` and `..`, which would change the path.
 */
export const pathOf = (...parts: [collection: string, ref?: string][]): string =>
  parts
    .map(([collection, ref]) => (ref === undefined ? `/${collection}` : `/${collection}/${segmentOf(ref)}`))
    .join('')

const segmentOf = (ref: string): string => {
  const id = /^(organizations|keys)\/./.test(ref) ? ref.slice(ref.lastIndexOf('/') + 1) : ref
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(ref)} names no resource`)
  return encodeURIComponent(id)
}
