import type { Json } from '@fms/aip'
import { below, type Compare, type Difference, type Place } from './compare-values.ts'
import { matchElements } from './match-elements.ts'

/** The id of an element, or undefined if it has none. */
export type IdOf = (element: Json) => string | undefined

/** Whether a value is an array whose elements all have ids. */
export const isMatchable = (value: Json | undefined, idOf: IdOf): value is Json[] =>
  Array.isArray(value) && value.every((element) => idOf(element) !== undefined)

/**
 * Compares two arrays whose elements are matched by id: first the removed elements in their former order, then the others
 * in their later order, each with a `MOVED` before the changes inside of it.
 */
export function* compareElements(
  before: readonly Json[],
  after: readonly Json[],
  place: Place,
  idOf: IdOf,
  compareElement: Compare,
): Generator<Difference> {
  const ids = (elements: readonly Json[]) => elements.map((element) => idOf(element)!)
  const { removed, formerIndexes, moved } = matchElements(ids(before), ids(after))
  for (const index of removed) yield* compareElement(before[index], undefined, below(place, index, index))
  for (const [index, formerIndex] of formerIndexes.entries()) {
    const at = below(place, formerIndex ?? index, index)
    if (moved.has(index)) yield { kind: 'MOVED', ...at }
    yield* compareElement(formerIndex === undefined ? undefined : before[formerIndex], after[index], at)
  }
}
