import { compareCodePoints } from '@fms/aip'
import type { FormOrderField } from '@fms/contracts'
import type { StoredForm } from '../../forms-store.ts'
import type { FormOrderTerm } from '../../lists/form-fields.ts'

const compare = (a: StoredForm, b: StoredForm, field: FormOrderField): number => {
  const [one, other] = [a[field], b[field]]
  return typeof one === 'string' ? compareCodePoints(one, other as string) : Number(one) - Number(other)
}

const byDefault: FormOrderTerm[] = [{ field: 'updateTime', descending: true }]

/** Compares by the terms of `orderBy`, then by `publicId` in the direction of the last term. */
export const comparing =
  (orderBy: readonly FormOrderTerm[]) =>
  (a: StoredForm, b: StoredForm): number => {
    for (const { field, descending } of orderBy.length > 0 ? orderBy : byDefault) {
      const order = compare(a, b, field)
      if (order !== 0) return descending ? -order : order
    }
    const byPublicId = compare(a, b, 'publicId')
    return orderBy.at(-1)?.descending ? -byPublicId : byPublicId
  }

/** The expected order of a list. */
export const inOrder = (forms: StoredForm[], orderBy: readonly FormOrderTerm[]): StoredForm[] =>
  forms.toSorted(comparing(orderBy))
