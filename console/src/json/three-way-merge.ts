import type { JsonValue } from '@fms/client'
import { isKeyed, isSameOrder, type Keyed } from './keyed-lists.ts'
import { isEqual, isObject, type JsonObject, memberOf } from './values.ts'

/** A value that both sides changed, each in its own way. Undefined: absent. */
export interface MergeConflict {
  /** Such as `steps[q1].title`: elements of a list by their `key`. */
  path: string
  mine: JsonValue | undefined
  theirs: JsonValue | undefined
}

export interface Merge {
  merged: JsonObject
  conflicts: MergeConflict[]
}

export type Side = 'mine' | 'theirs'

type Maybe = JsonValue | undefined

/**
 * Merges the changes of two sides since `base`: objects member by member, lists of objects with unique `key`s element by
 * element, other lists whole.
 *
 * @param choose whose value to take at the path of a conflict.
 */
export const mergeChanges = (
  base: JsonObject,
  mine: JsonObject,
  theirs: JsonObject,
  choose: (path: string) => Side,
): Merge => {
  const conflicts: MergeConflict[] = []

  const merge = (path: string, base: Maybe, mine: Maybe, theirs: Maybe): Maybe => {
    if (isEqual(mine, theirs) || isEqual(base, theirs)) return mine
    if (isEqual(base, mine)) return theirs
    if (isObject(mine) && isObject(theirs))
      return mergeObjects(path, isObject(base) ? base : {}, mine, theirs)
    if (isKeyed(base) && isKeyed(mine) && isKeyed(theirs)) return mergeKeyed(path, base, mine, theirs)
    return choice(path, mine, theirs)
  }

  const choice = (path: string, mine: Maybe, theirs: Maybe): Maybe => {
    conflicts.push({ path, mine, theirs })
    return choose(path) === 'mine' ? mine : theirs
  }

  const mergeObjects = (path: string, base: JsonObject, mine: JsonObject, theirs: JsonObject): JsonObject => {
    const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])]
    const members = names.flatMap((name) => {
      const [inBase, inMine, inTheirs] = [base, mine, theirs].map((side) => memberOf(side, name))
      const value = merge(path === '' ? name : `${path}.${name}`, inBase, inMine, inTheirs)
      return value === undefined ? [] : [[name, value] as const]
    })
    // An assignment to `__proto__` would make no member.
    return Object.fromEntries<JsonValue>(members)
  }

  const mergeKeyed = (path: string, base: Keyed[], mine: Keyed[], theirs: Keyed[]): JsonValue => {
    const [inBase, inMine, inTheirs] = [base, mine, theirs].map(byKey) as [ByKey, ByKey, ByKey]
    return mergedOrder(base, mine, theirs).flatMap((key) => {
      const [at, ofMine, ofTheirs] = [`${path}[${key}]`, inMine.get(key), inTheirs.get(key)]
      const before = conflicts.length
      let value = merge(at, inBase.get(key), ofMine, ofTheirs)
      // Two different elements that happen to have the same key: a mixture of them would be neither.
      if (!inBase.has(key) && conflicts.splice(before).length > 0) value = choice(at, ofMine, ofTheirs)
      return value === undefined ? [] : [value]
    })
  }

  return { merged: mergeObjects('', base, mine, theirs), conflicts }
}

/** Whether a side has all changes that `mine` has made since `base`. It may have more, such as defaults. */
export const hasChangesOf = (base: JsonObject, mine: JsonObject, side: JsonObject): boolean =>
  isEqual(mergeChanges(base, mine, side, () => 'mine').merged, side)

type ByKey = Map<string, Keyed>

const byKey = (items: Keyed[]): ByKey => new Map(items.map((item) => [item.key, item]))

/** All keys, in the order of the side that moved elements, mine if both did; what the other side added follows its predecessor. */
const mergedOrder = (base: Keyed[], mine: Keyed[], theirs: Keyed[]): string[] => {
  const [first, second] = isSameOrder(base, mine) ? [theirs, mine] : [mine, theirs]
  const order = first.map(({ key }) => key)
  for (const [index, { key }] of second.entries()) {
    if (order.includes(key)) continue
    const predecessor = second[index - 1]
    order.splice(predecessor ? order.indexOf(predecessor.key) + 1 : 0, 0, key)
  }
  return order
}
