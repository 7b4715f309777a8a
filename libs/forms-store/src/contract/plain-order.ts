import { compareCodePoints } from '@fms/aip'
import type { StoredForm } from '../forms-store.ts'
import type { FormOrderField, FormOrderTerm } from '../lists/form-order.ts'

const compare: Record<FormOrderField, (a: StoredForm, b: StoredForm) => number> = {
  name: (a, b) => compareCodePoints(a.name, b.name),
  publicId: (a, b) => compareCodePoints(a.publicId, b.publicId),
  createTime: (a, b) => a.createTime.getTime() - b.createTime.getTime(),
  updateTime: (a, b) => a.updateTime.getTime() - b.updateTime.getTime(),
  replyCount: (a, b) => a.replyCount - b.replyCount,
}

const byDefault: FormOrderTerm[] = [{ field: 'updateTime', descending: true }]

/** Compares by the terms of `orderBy`, then by `publicId` in the direction of the last term. */
export const comparing =
  (orderBy: readonly FormOrderTerm[]) =>
  (a: StoredForm, b: StoredForm): number => {
    for (const { field, descending } of orderBy.length > 0 ? orderBy : byDefault) {
      const order = compare[field](a, b)
      if (order !== 0) return descending ? -order : order
    }
    return orderBy.at(-1)?.descending ? -compare.publicId(a, b) : compare.publicId(a, b)
  }

/** The expected order of a list. */
export const inOrder = (forms: StoredForm[], orderBy: readonly FormOrderTerm[]): StoredForm[] =>
  forms.toSorted(comparing(orderBy))
