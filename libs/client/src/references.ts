/**
 * The path of a resource, from the names of its collections and what the caller wrote for each resource: an id,
 * another reference that the API takes, or the resource's own `path`.
 *
 * @throws {TypeError} for `""`, `.` and `..`: URLs read them as another path.
 */
export const pathOf = (...parts: [collection: string, ref?: string][]): string =>
  parts
    .map(([collection, ref]) => (ref === undefined ? `/${collection}` : `/${collection}/${segmentOf(ref)}`))
    .join('')

const segmentOf = (ref: string): string => {
  const id = /^organizations\/./.test(ref) ? ref.slice(ref.lastIndexOf('/') + 1) : ref
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(ref)} names no resource`)
  return encodeURIComponent(id)
}
