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

/** @param values of the form there, as a position has them. */
export const positionOf = (
  values: Readonly<Record<FormOrderField, string | number>>,
  order: readonly FormOrderTerm[],
): FormPosition => order.map(({ field }) => values[field])
