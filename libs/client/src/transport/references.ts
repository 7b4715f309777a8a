/**
 * The id at the end of a `path`. @returns another reference unchanged.
 *
 * @throws {TypeError} for the references `""`, `.` and `..`, which would change a URL path.
 */
export const idOf = (ref: string): string => {
  const id = /^(organizations|keys)\/./.test(ref) ? ref.slice(ref.lastIndexOf('/') + 1) : ref
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(ref)} names no resource`)
  return id
}

/**
 * The URL path of a resource.
 *
 * @param parts the collections with the reference to a resource in each: an id, another reference of the API, or a
 *   `path`.
 * @throws {TypeError} for the references `""`, `.` and `..`.
 */
export const pathOf = (...parts: [collection: string, ref?: string][]): string =>
  parts
    .map(([collection, ref]) =>
      ref === undefined ? `/${collection}` : `/${collection}/${encodeURIComponent(idOf(ref))}`,
    )
    .join('')
