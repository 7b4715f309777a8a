import type { Json } from '@fms/aip'
import { below, type Compare, type Difference, type Place } from './compare-values.ts'
import { matchElements } from './match-elements.ts'

/** An array whose elements all have ids. */
export interface Identified {
  elements: readonly Json[]
  ids: readonly string[]
}

/** @returns undefined if the value is no array, or one of its elements has no id. */
export const identify = (
  elements: Json | undefined,
  idOf: (element: Json) => string | undefined,
): Identified | undefined => {
  if (!Array.isArray(elements)) return undefined
  const ids = elements.map(idOf)
  return ids.every((id) => id !== undefined) ? { elements, ids } : undefined
}

/**
 * Compares two arrays whose elements are matched by id: first the removed elements in their former order, then the others
 * in their later order, each with a `MOVED` before the changes inside of it.
 */
export function* compareElements(
  before: Identified,
  after: Identified,
  place: Place,
  compareElement: Compare,
): Generator<Difference> {
  const { removed, formerIndexes, staying } = matchElements(before.ids, after.ids)
  for (const index of removed) {
    yield* compareElement(before.elements[index], undefined, below(place, index, index))
  }
  for (const [index, element] of after.elements.entries()) {
    const formerIndex = formerIndexes[index]
    const at = below(place, formerIndex ?? index, index)
    if (formerIndex === undefined) yield* compareElement(undefined, element, at)
    else {
      if (!staying.has(formerIndex)) yield { kind: 'MOVED', ...at }
      yield* compareElement(before.elements[formerIndex], element, at)
    }
  }
}
