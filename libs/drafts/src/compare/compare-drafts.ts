import { fieldPath, isObject, type JsonObject } from '@fms/aip'
import { type FormChange, FormDraft, outputOnlyFields } from '@fms/contracts'
import { compareSteps, compareWholeSteps } from './compare-steps.ts'
import { type Compare, compareMembers, compareValues, type Difference, type Path } from './compare-values.ts'

/**
 * Bound of the changes of steps, and of those of translations, in bytes of JSON without the values: at least 5,000
 * changes with short names. A list over the bound is replaced by a coarser one.
 */
const maxBytes = 1024 * 1024

/**
 * All changes that turn one state of a form or draft into a later one, as JSON. Ignores output-only fields; a member that
 * a state lacks has its default. Member order and the notation of numbers make no difference.
 *
 * Objects are compared by member, steps by `key`, and options of a step by `key`, `id`, `value` or text. Other arrays are
 * compared as a whole. Members come in the order of their names by UTF-16 code unit; of steps and options, first the
 * removed ones in their former order, then the others in their later order.
 *
 * If the changes of steps exceed 1 MiB without their values, each changed step is one change; if those of
 * `i18n.translations` or another large field do, they are one change. Each value is in at most one change. The changes
 * between two forms of 768 KiB therefore have at most 4 MiB.
 */
export const compareDrafts = (from: JsonObject, to: JsonObject): FormChange[] => {
  const root = { from: [], to: [] }
  return [...compareMembers(makersFields(from), makersFields(to), root, compareField)].map(toFormChange)
}

/** The fields of the maker with today's defaults. A state that today's rules refuse stays as it is. */
const makersFields = (form: JsonObject): JsonObject => {
  const fields = { ...form }
  for (const name of outputOnlyFields) delete fields[name]
  const { data } = FormDraft.safeParse(fields)
  return (data as JsonObject | undefined) ?? fields
}

const compareField = (name: string): Compare => {
  if (name === 'steps') return bounded(compareSteps, compareWholeSteps)
  return name === 'i18n' ? compareI18n : bounded(compareValues, compareAsOne)
}

const compareI18n: Compare = (before, after, place) =>
  isObject(before) && isObject(after)
    ? compareMembers(before, after, place, (name) =>
        name === 'translations' ? bounded(compareValues, compareAsOne) : compareValues,
      )
    : compareValues(before, after, place)

const compareAsOne: Compare = function* (before, after, place) {
  if (before !== undefined && after !== undefined) yield { kind: 'CHANGED', ...place, before, after }
}

/** The differences of `fine`, or those of `coarse` if they exceed the bound. */
const bounded = (fine: Compare, coarse: Compare): Compare =>
  function* (before, after, place) {
    const differences: Difference[] = []
    let bytes = 0
    for (const difference of fine(before, after, place)) {
      const { before: _before, after: _after, ...change } = toFormChange(difference)
      bytes += Buffer.byteLength(JSON.stringify(change))
      if (bytes > maxBytes) {
        yield* coarse(before, after, place)
        return
      }
      differences.push(difference)
    }
    yield* differences
  }

export const toFormChange = ({ kind, from, to, ...rest }: Difference): FormChange => ({
  kind,
  field: fieldPath(['form', ...(to ?? from ?? [])]),
  ...(from && { fromPointer: jsonPointer(from) }),
  ...(to && { toPointer: jsonPointer(to) }),
  ...rest,
})

/** RFC 6901. */
const jsonPointer = (path: Path): string =>
  path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
