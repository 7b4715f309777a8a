import type { CheckedFilter } from '@fms/aip'
import type { MongoListPlan } from '@fms/store-kit/mongodb'
import type { FormOrderTerm } from '../lists/form-fields.ts'
import { conjunctsOf } from '../lists/name-trigrams.ts'
import { formIndexes, orderIndexes } from './schema.ts'

/** Indexes of one field that a filter can be counted on. All have `publicId`. */
const countIndexes = [orderIndexes.publicId, ...Object.values(orderIndexes)]

/**
 * The indexes of a list of forms. Each list names its index: otherwise the engine tries all, and uses for a large
 * organization the plan that it has cached for a small one.
 *
 * - Texts of three letters or more: forms_by_nameTrigrams. The engine reads the documents that have all trigrams, and
 *   sorts their fields. Likewise forms_by_publicId_and_id for one public id.
 * - A page without a filter, or with a filter on fields of the order's index: that index.
 * - A filter with `type = …` in the default order: forms_by_type, where the forms of each type have that order.
 * - Everything else: forms_by_type, whose entries have all fields of filters and orders. The engine sorts these
 *   entries.
 */
export const planList = (
  filter: CheckedFilter | undefined,
  order: readonly FormOrderTerm[],
  hasTrigrams: boolean,
): MongoListPlan => {
  if (hasTrigrams) return entriesOf(formIndexes.byNameTrigrams.name)
  if (filter && fixes(filter, 'publicId')) return entriesOf(orderIndexes.publicId.name)
  const read = filter ? fieldsRead(filter) : []
  const countIndex = (countIndexes.find((index) => hasAll(index, read)) ?? formIndexes.byType).name
  const ordered = orderIndexOf(order)
  if (ordered && hasAll(ordered, read)) return { pageIndex: ordered.name, countIndex }
  const isByType = ordered === formIndexes.byUpdateTimeDescending && filter && fixes(filter, 'type')
  return isByType
    ? { pageIndex: formIndexes.byType.name, countIndex }
    : { ...entriesOf(formIndexes.byType.name), countIndex }
}

const entriesOf = (index: string): MongoListPlan => ({
  pageIndex: index,
  idIndex: 'forms_by_id',
  countIndex: index,
})

const hasAll = ({ key }: { key: Readonly<Record<string, unknown>> }, fields: readonly string[]) =>
  fields.every((field) => Object.hasOwn(key, field))

const fieldsRead = (filter: CheckedFilter): string[] => {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.operands.flatMap(fieldsRead)
    case 'not':
      return fieldsRead(filter.operand)
    case 'constant':
      return []
    case 'search':
      return ['foldedName']
    default:
      return [filter.field]
  }
}

/** Whether every match has the same value of a field. */
const fixes = (filter: CheckedFilter, field: string): boolean =>
  conjunctsOf(filter).some(
    (condition) => condition.kind === 'compare' && condition.field === field && condition.operator === '=',
  )

/** The index that has an order, forwards or backwards; undefined for an order of several fields. */
const orderIndexOf = (order: readonly FormOrderTerm[]) => {
  const [first, second, third] = order
  if (!second) return orderIndexes.publicId
  if (third) return undefined
  if (first!.descending !== second.descending) {
    return first!.field === 'updateTime' ? formIndexes.byUpdateTimeDescending : undefined
  }
  return orderIndexes[first!.field]
}
