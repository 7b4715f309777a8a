/** The fields that a list of forms can be sorted by. */
export const formOrderFields = ['name', 'publicId', 'createTime', 'updateTime', 'replyCount'] as const
export type FormOrderField = (typeof formOrderFields)[number]

export interface FormOrderTerm {
  field: FormOrderField
  descending: boolean
}

/**
 * The total order of a list: adds `publicId`, in the direction of the last field, and drops the fields after a `publicId`.
 * An empty `orderBy` means most recently updated first, with ties ascending.
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

/** The position of a form in a list: its values of the complete order's fields. Times in milliseconds since the epoch. */
export type FormPosition = (string | number)[]

/** @param values of the form. Times in milliseconds since the epoch. */
export const positionOf = (
  values: Readonly<Record<FormOrderField, string | number>>,
  order: readonly FormOrderTerm[],
): FormPosition => order.map(({ field }) => values[field])
