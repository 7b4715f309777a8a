import type { FormChange, JsonValue } from '@fms/client'
import { commonKeys, isKeyed, isSameOrder, type Keyed } from './keyed-lists.ts'
import { isEqual, isObject, type JsonObject, memberOf } from './values.ts'

/** Where a value is: its field, and its JSON Pointers (RFC 6901) in both states. */
interface Place {
  field: string
  from: string
  to: string
}

type Maybe = JsonValue | undefined

/**
 * What differs between two states of the fields of a form: objects by member, lists of objects with unique `key`s by
 * element, other lists as a whole. Unlike in a comparison of the service, fields name elements by their key, such as
 * `steps[q1].title`, and another order is one change of the list, with both orders of the keys.
 */
export const changesBetween = (from: JsonObject, to: JsonObject): FormChange[] => [
  ...compareMembers({ field: '', from: '', to: '' }, from, to),
]

function* compare(place: Place, before: Maybe, after: Maybe): Generator<FormChange> {
  if (isEqual(before, after)) return
  if (isObject(before) && isObject(after)) yield* compareMembers(place, before, after)
  else if (isKeyed(before) && isKeyed(after)) yield* compareKeyed(place, before, after)
  else yield changeOf(place, before, after)
}

function* compareMembers(place: Place, before: JsonObject, after: JsonObject): Generator<FormChange> {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const token = name.replaceAll('~', '~0').replaceAll('/', '~1')
    const field = place.field === '' ? name : `${place.field}.${name}`
    const member = { field, from: `${place.from}/${token}`, to: `${place.to}/${token}` }
    yield* compare(member, memberOf(before, name), memberOf(after, name))
  }
}

function* compareKeyed(place: Place, before: Keyed[], after: Keyed[]): Generator<FormChange> {
  const { field } = place
  if (!isSameOrder(before, after)) {
    const [former, later] = [commonKeys(before, after), commonKeys(after, before)]
    yield { kind: 'MOVED', field, before: former.join(', '), after: later.join(', ') }
  }
  const [fromIndexes, toIndexes] = [indexesOf(before), indexesOf(after)]
  for (const key of new Set([...fromIndexes.keys(), ...toIndexes.keys()])) {
    const [from, to] = [fromIndexes.get(key), toIndexes.get(key)]
    const element = { field: `${field}[${key}]`, from: `${place.from}/${from}`, to: `${place.to}/${to}` }
    yield* compare(element, from === undefined ? from : before[from], to === undefined ? to : after[to])
  }
}

const indexesOf = (list: Keyed[]): Map<string, number> => new Map(list.map(({ key }, index) => [key, index]))

const changeOf = ({ field, from, to }: Place, before: Maybe, after: Maybe): FormChange => {
  if (before === undefined) return { kind: 'ADDED', field, toPointer: to, after }
  if (after === undefined) return { kind: 'REMOVED', field, fromPointer: from, before }
  return { kind: 'CHANGED', field, fromPointer: from, toPointer: to, before, after }
}
