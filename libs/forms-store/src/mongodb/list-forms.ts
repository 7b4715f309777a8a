import { type Position, positionOf } from '@fms/aip'
import { takeUpTo } from '@fms/store-kit'
import { MongoList } from '@fms/store-kit/mongodb'
import type {
  DeletedFormsPage,
  FormSummary,
  ListDeletedFormsQuery,
  ListFormsQuery,
  ListReport,
  PageEnd,
  StoredForm,
  Usage,
} from '../forms-store.ts'
import { completeFormOrder, formFilterFields } from '../lists/form-fields.ts'
import { requiredTrigrams, spread } from '../lists/name-trigrams.ts'
import { toDeletedForm } from '../stored-rows.ts'
import { storedFields, summaryFields, toFormSummary, toStoredForm } from './convert-documents.ts'
import type { FormDocument, FormsCollections } from './documents.ts'
import { documentIdOf, formIdOf } from './find-form.ts'
import { planList } from './list-plan.ts'

/** Document fields by the names that filters use. */
const filterFields = Object.fromEntries(Object.keys(formFilterFields.fields).map((field) => [field, field]))

/** Trigrams in the query of one search: more narrow it little further. */
const maxTrigrams = 8

export interface ListLimits {
  /** How long the engine may work on each request, in milliseconds. */
  timeoutMs: number
  throwIfAborted: () => void
  report?: ListReport
}

interface PageItems<Item> {
  fields: readonly (keyof FormDocument)[]
  /** The share of an item in the 4 MiB of a page. Default: none. */
  bytesOf?: ((document: FormDocument) => number) | undefined
  toItem: (document: FormDocument) => Item
}

export const wholeForms: PageItems<StoredForm> = {
  fields: storedFields,
  bytesOf: ({ draft }) => Buffer.byteLength(draft),
  toItem: toStoredForm,
}

/** Forms without their drafts, which do not count towards the size of a page. */
export const summaries: PageItems<FormSummary> = {
  fields: summaryFields,
  toItem: toFormSummary,
}

/** Indexes: those of `planList`. @param usage reads the number of all forms, for a list without a filter. */
export const listForms = async <Item>(
  collections: FormsCollections,
  { organizationId, filter, orderBy, after, limit, skip }: ListFormsQuery,
  { fields, bytesOf, toItem }: PageItems<Item>,
  { report, ...limits }: ListLimits,
  usage: () => Promise<Usage>,
): Promise<PageEnd<Position> & { forms: Item[] }> => {
  const order = completeFormOrder(orderBy)
  const trigrams = filter ? spread(requiredTrigrams(filter), maxTrigrams) : []
  const plan = planList(filter, order, trigrams.length > 0)
  if (report) report.plan = plan.pageIndex
  const list = new MongoList(collections.forms, {
    scope: { organizationId, isDeleted: false },
    filter,
    ...(trigrams.length > 0 && { narrowing: { nameTrigrams: { $all: trigrams } } }),
    documentFields: [...fields, 'foldedName'],
    fields: filterFields,
    foldedField: 'foldedName',
    order,
    after,
    skip,
    limit,
    plan,
    ...limits,
  })
  const [{ taken, more }, totalSize] = await Promise.all([
    takeUpTo(limit, list.items(), bytesOf),
    filter ? list.count() : usage().then(({ forms }) => forms),
  ])
  const next = more && positionOf(taken.at(-1)!, order)
  return { forms: taken.map(toItem), ...(next && { next }), totalSize }
}

const lastDeletedFirst = [
  { field: 'deleteTime', descending: true },
  { field: '_id', descending: false },
]

/** Reads a page of deleted forms, without reading the forms. Index: deletions_by_deleteTime. */
export const listDeleted = async (
  { deletions }: FormsCollections,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
  limits: ListLimits,
): Promise<DeletedFormsPage> => {
  const list = new MongoList(deletions, {
    scope: { organizationId },
    fields: {},
    order: lastDeletedFirst,
    after: after && [after.deleteTime.getTime(), documentIdOf({ organizationId, formId: after.formId })],
    skip,
    limit,
    ...limits,
  })
  const [{ taken, more }, totalSize] = await Promise.all([takeUpTo(limit, list.items()), list.count()])
  const deletedForms = taken.map((deletion) => toDeletedForm({ ...deletion, formId: formIdOf(deletion) }))
  const last = more ? deletedForms.at(-1) : undefined
  return {
    deletedForms,
    ...(last && { next: { deleteTime: last.deleteTime, formId: last.formId } }),
    totalSize,
  }
}
