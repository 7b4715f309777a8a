import type { StoredForm } from './forms-store.ts'

/** The fields that a list of forms can be sorted by. */
export const formOrderFields = ['name', 'publicId', 'createTime', 'updateTime', 'replyCount'] as const
export type FormOrderField = (typeof formOrderFields)[number]

export interface FormOrderTerm {
  field: FormOrderField
  descending: boolean
}

/**
 * The order that a list really has: `publicId`, ascending, breaks the ties, and what follows a public id decides
 * nothing. An empty `orderBy` is most recently updated first.
 */
export const completeOrder = (orderBy: readonly FormOrderTerm[]): FormOrderTerm[] => {
  const wanted = orderBy.length > 0 ? orderBy : [{ field: 'updateTime' as const, descending: true }]
  const publicIdIndex = wanted.findIndex(({ field }) => field === 'publicId')
  return publicIdIndex < 0
    ? [...wanted, { field: 'publicId', descending: false }]
    : wanted.slice(0, publicIdIndex + 1)
}

/** A place in a list: the values of its complete order's fields there; times as milliseconds since the epoch. */
export type FormPosition = (string | number)[]

export const positionOf = (form: StoredForm, order: readonly FormOrderTerm[]): FormPosition =>
  order.map(({ field }) => {
    if (field === 'name') return form.draft.name
    const value = form[field]
    return value instanceof Date ? value.getTime() : value
  })
