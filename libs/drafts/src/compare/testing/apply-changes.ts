import type { FormChange } from '@fms/contracts'

type Container = Record<string | number, unknown>

/** Stands in an array for an element that is removed or taken out. */
const hole = Symbol('hole')

/**
 * Applies changes to the form of `from`. The result is the form of `to`: it shows that changes are complete. Written from
 * the reference of the API (docs/api.md), not from the comparison.
 */
export const applyChanges = (form: object, changes: readonly FormChange[]): unknown => {
  const root: unknown = structuredClone(form)
  const taken = takeOut(root, changes)
  removeHoles([root, ...taken.values()])
  for (const change of changes.filter(inserts).sort(byDepthAndIndex)) insert(root, change, taken)
  for (const { kind, toPointer, after } of changes) if (kind === 'CHANGED') setValue(root, toPointer!, after)
  return root
}

/** Takes removed and moved values out, the deepest first. @returns the moved ones. */
const takeOut = (root: unknown, changes: readonly FormChange[]): Map<FormChange, unknown> => {
  const taken = new Map<FormChange, unknown>()
  const leaving = changes.filter(({ kind }) => kind === 'REMOVED' || kind === 'MOVED')
  for (const change of leaving.sort((a, b) => depth(b.fromPointer!) - depth(a.fromPointer!))) {
    const [container, name] = find(root, change.fromPointer!)
    if (change.kind === 'MOVED') taken.set(change, container[name])
    if (Array.isArray(container)) container[Number(name)] = hole
    else delete container[name]
  }
  return taken
}

const removeHoles = (values: unknown[]): void => {
  for (const value of values) {
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) value.splice(0, value.length, ...value.filter((element) => element !== hole))
    removeHoles(Object.values(value))
  }
}

const inserts = ({ kind }: FormChange) => kind === 'ADDED' || kind === 'MOVED'

const byDepthAndIndex = (a: FormChange, b: FormChange) =>
  depth(a.toPointer!) - depth(b.toPointer!) || lastIndex(a) - lastIndex(b)

const insert = (root: unknown, change: FormChange, taken: Map<FormChange, unknown>): void => {
  const value = taken.has(change) ? taken.get(change) : change.after
  const [container, name] = find(root, change.toPointer!)
  if (Array.isArray(container)) container.splice(Number(name), 0, value)
  else container[name] = value
}

const setValue = (root: unknown, pointer: string, value: unknown): void => {
  const [container, name] = find(root, pointer)
  container[name] = value
}

/** The object or array that a pointer (RFC 6901) ends in, and the last name. Throws if the container does not exist. */
const find = (root: unknown, pointer: string): [Container, string] => {
  const parts = pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const name = parts.pop()!
  const container = parts.reduce((value, part) => {
    if (!Object.hasOwn(value as object, part)) throw new Error(`nothing at ${part} of ${pointer}`)
    return (value as Container)[part]
  }, root)
  return [container as Container, name]
}

const depth = (pointer: string) => pointer.split('/').length
const lastIndex = ({ toPointer }: FormChange) => Number(toPointer!.split('/').at(-1)) || 0
