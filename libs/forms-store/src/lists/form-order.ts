/** The fields that a list of forms can be sorted by. */
export const formOrderFields = ['name', 'publicId', 'createTime', 'updateTime', 'replyCount'] as const
export type FormOrderField = (typeof formOrderFields)[number]

export interface FormOrderTerm {
  field: FormOrderField
  descending: boolean
}

/**
 * The order that a list really has: `publicId` breaks the ties in the direction of the last field, and what follows a
 * public id decides nothing. An empty `orderBy` is most recently updated first, and its ties ascend.
 */
export const completeOrder = (orderBy: readonly FormOrderTerm[]): FormOrderTerm[] => {
  const last = orderBy.at(-1)
  if (!last) return [...defaultOrder]
  const publicIdIndex = orderBy.findIndex(({ field }) => field === 'publicId')
  return publicIdIndex < 0
    ? [...orderBy, { field: 'publicId', descending: last.descending }]
    : orderBy.slice(0, publicIdIndex + 1)
}

const defaultOrder: readonly FormOrderTerm[] = [
  { field: 'updateTime', descending: true },
  { field: 'publicId', descending: false },
]

/** A place in a list: the values of its complete order's fields there; times as milliseconds since the epoch. */
export type FormPosition = (string | number)[]

/** @param values of the form there, as a position has them. */
export const positionOf = (
  values: Readonly<Record<FormOrderField, string | number>>,
  order: readonly FormOrderTerm[],
): FormPosition => order.map(({ field }) => values[field])
