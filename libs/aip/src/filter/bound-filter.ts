import type { CheckedFilter } from './checked-filter.ts'

const maxConditions = 60

/** Maximum number of conditions in a filter that read the text of each row, since no index serves them. */
const maxTextConditions = 10

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

/** @throws {FilterComplexityError} for more than 60 conditions, or more than 10 that read the text of each row. */
export const boundFilter = (filter: CheckedFilter): void => {
  const conditions = conditionsOf(filter)
  const textConditions = conditions.filter(readsText)
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

/** Whether a condition is `:`, `search()`, a bare term, or has text after a `*`. */
const readsText = (node: CheckedFilter): boolean =>
  node.kind === 'contains' ||
  node.kind === 'search' ||
  (node.kind === 'match' && node.parts.slice(1).some((part) => part !== ''))
