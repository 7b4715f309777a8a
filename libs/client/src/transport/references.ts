/** The id at the end of a `path`; other references as they are. @throws {TypeError} for `""`, `.` and `..`. */
export const idOf = (ref: string): string => {
  const id = /^(organizations|keys)\/./.test(ref) ? ref.slice(ref.lastIndexOf('/') + 1) : ref
  if (/^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(ref)} names no resource`)
  return id
}

/** The URL path of a resource, from collections, each with a reference in it. @throws {TypeError} as {@link idOf}. */
export const pathOf = (...parts: [collection: string, ref?: string][]): string =>
  parts
    .map(([collection, ref]) =>
      ref === undefined ? `/${collection}` : `/${collection}/${encodeURIComponent(idOf(ref))}`,
    )
    .join('')
