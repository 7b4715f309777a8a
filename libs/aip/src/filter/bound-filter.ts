import type { CheckedFilter } from './check-filter.ts'

/** A filter may have this many conditions. */
export const maxConditions = 60

/** A filter may have this many conditions that need the text itself, where no index narrows what is read. */
export const maxTextConditions = 10

/** A filter asks for more at once than a list answers. */
export class FilterComplexityError extends Error {
  readonly conditions: 'conditions' | 'text conditions'
  readonly limit: number
  readonly found: number

  constructor(conditions: FilterComplexityError['conditions'], limit: number, found: number) {
    super(`${found} ${conditions}, where at most ${limit} are possible`)
    this.name = 'FilterComplexityError'
    this.conditions = conditions
    this.limit = limit
    this.found = found
  }
}

/** @throws {FilterComplexityError} for more than 60 conditions, or more than 10 that need the text itself. */
export const boundFilter = (filter: CheckedFilter): void => {
  const conditions = conditionsOf(filter)
  const textConditions = conditions.filter(needsText)
  if (conditions.length > maxConditions) {
    throw new FilterComplexityError('conditions', maxConditions, conditions.length)
  }
  if (textConditions.length > maxTextConditions) {
    throw new FilterComplexityError('text conditions', maxTextConditions, textConditions.length)
  }
}

const conditionsOf = (node: CheckedFilter): CheckedFilter[] => {
  if (node.kind === 'and' || node.kind === 'or') return node.operands.flatMap(conditionsOf)
  return node.kind === 'not' ? conditionsOf(node.operand) : [node]
}

/** Whether it is `:`, `search()`, a bare term, or a `*` that is followed by anything but stars. */
const needsText = (node: CheckedFilter): boolean =>
  node.kind === 'contains' ||
  node.kind === 'search' ||
  (node.kind === 'match' && node.parts.slice(1).some((part) => part !== ''))
