/**
 * Cuts a parsed resource down to a read mask (AIP-157): the members that a path of the mask reaches, and the objects on
 * the way to them. An independent implementation, to compare the product with.
 *
 * @param mask comma-separated paths of existing members, or `*`.
 */
export const cutToMask = <T>(resource: T, mask: string): T => {
  const paths = mask.split(',').map((path) => path.trim().split('.'))
  return paths.some(([name]) => name === '*') ? resource : (cutToPaths(resource, paths) as T)
}

const cutToPaths = (value: unknown, paths: readonly string[][]): unknown => {
  if (paths.some((path) => path.length === 0)) return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value).flatMap(([name, member]) => {
    const rest = paths.filter(([first]) => first === name).map((path) => path.slice(1))
    return rest.length > 0 ? [[name, cutToPaths(member, rest)] as const] : []
  })
  return Object.fromEntries(members)
}
