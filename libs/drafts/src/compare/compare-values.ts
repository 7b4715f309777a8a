import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, type JsonObject } from '@fms/aip'
import type { BreakingChange, ChangeKind } from '@fms/contracts'

/** Names of members and indexes of elements, from the form to a value. */
export type Path = readonly (string | number)[]

/** Where a value is in the two states. The paths differ in an array whose elements have moved. */
export interface Place {
  from: Path
  to: Path
}

/** A change before it is rendered for the API. */
export interface Difference extends Partial<Place> {
  kind: ChangeKind
  before?: Json
  after?: Json
  breaking?: BreakingChange
}

/** Compares two values; `undefined` means that the value is absent. */
export type Compare = (
  before: Json | undefined,
  after: Json | undefined,
  place: Place,
) => Iterable<Difference>

/** Compares values as JSON: objects by member, all else, arrays included, as a whole. */
export const compareValues: Compare = function* (before, after, place) {
  if (before === undefined) yield { kind: 'ADDED', to: place.to, after: after! }
  else if (after === undefined) yield { kind: 'REMOVED', from: place.from, before }
  else if (isObject(before) && isObject(after)) yield* compareMembers(before, after, place)
  else if (!isDeepStrictEqual(before, after)) yield { kind: 'CHANGED', ...place, before, after }
}

/** Compares two objects by member, in the order of their names by UTF-16 code unit. */
export function* compareMembers(
  before: JsonObject,
  after: JsonObject,
  place: Place,
  compareMember: (name: string) => Compare = () => compareValues,
): Generator<Difference> {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  for (const name of [...names].sort()) {
    const [former, later] = [memberOf(before, name), memberOf(after, name)]
    if (former !== later) yield* compareMember(name)(former, later, below(place, name, name))
  }
}

export const below = ({ from, to }: Place, inFrom: string | number, inTo: string | number): Place => ({
  from: [...from, inFrom],
  to: [...to, inTo],
})

export const memberOf = (object: JsonObject, name: string): Json | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined
