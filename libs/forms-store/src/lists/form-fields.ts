import { completeOrder, type FilterFields, type OrderTerm } from '@fms/aip'
import { type FieldTraits, type FormOrderField, formFields, formOrderFields } from '@fms/contracts'

const entries = Object.entries<FieldTraits>(formFields)

/** The fields that a filter of forms can name, and the field that `search()` and bare terms search (AIP-160). */
export const formFilterFields: FilterFields = {
  fields: Object.fromEntries(entries.flatMap(([name, { filter }]) => (filter ? [[name, filter]] : []))),
  search: entries.find(([, { isSearched }]) => isSearched)![0],
}

/** What the engines store of all fields of filters and orders, for an index that covers them. */
export const listedFields: readonly string[] = [
  ...new Set([...Object.keys(formFilterFields.fields), ...formOrderFields]),
].flatMap((field) => (field === formFilterFields.search ? [field, 'foldedName'] : [field]))

export type FormOrderTerm = OrderTerm<FormOrderField>

/** Most recently updated first, with ties ascending. */
const defaultOrder: readonly FormOrderTerm[] = [
  { field: 'updateTime', descending: true },
  { field: 'publicId', descending: false },
]

export const completeFormOrder = (orderBy: readonly FormOrderTerm[]) =>
  completeOrder(orderBy, 'publicId', defaultOrder)
