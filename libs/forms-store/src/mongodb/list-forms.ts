import { type Position, positionOf } from '@fms/aip'
import { listMongodb } from '@fms/store-kit/mongodb'
import type {
  DeletedFormPosition,
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
import { takeUpTo } from '../lists/take-up-to.ts'
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
  /** The share of an item in the 4 MiB of a page. */
  bytesOf: (document: FormDocument) => number
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
  bytesOf: () => 0,
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
  if (report) report.plan = plan.page.index
  const list = listMongodb(collections.forms, {
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
    takeUpTo(limit, list.items, bytesOf),
    filter ? list.count() : usage().then(({ forms }) => forms),
  ])
  const next = more && positionOf(taken.at(-1)!, order)
  return { forms: taken.map(toItem), ...(next && { next }), totalSize }
}

/** Reads a page of deleted forms, without reading the forms. Index: deletions_by_deleteTime. */
export const listDeleted = async (
  { deletions }: FormsCollections,
  { organizationId, after, limit, skip }: ListDeletedFormsQuery,
  { timeoutMs, throwIfAborted }: ListLimits,
): Promise<DeletedFormsPage> => {
  throwIfAborted()
  const query = { organizationId, ...(after && isAfter(organizationId, after)) }
  const sort = { deleteTime: -1, _id: 1 } as const
  const [found, totalSize] = await Promise.all([
    Array.fromAsync(deletions.find(query, { sort, skip, limit: limit + 1, timeoutMs })),
    deletions.count({ organizationId }, { timeoutMs }),
  ])
  const page = found.slice(0, limit)
  const deletedForms = page.map((deletion) => toDeletedForm({ ...deletion, formId: formIdOf(deletion) }))
  const last = found.length > limit ? deletedForms.at(-1) : undefined
  return {
    deletedForms,
    ...(last && { next: { deleteTime: last.deleteTime, formId: last.formId } }),
    totalSize,
  }
}

const isAfter = (organizationId: string, { deleteTime, formId }: DeletedFormPosition) => {
  const time = deleteTime.getTime()
  const isTied = { deleteTime: time, _id: { $gt: documentIdOf({ organizationId, formId }) } }
  return { deleteTime: { $lte: time }, $or: [{ deleteTime: { $lt: time } }, isTied] }
}
