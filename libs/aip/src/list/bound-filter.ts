import { apiError } from '../errors.ts'
import type { CheckedFilter } from '../filter/index.ts'

const maxConditions = 60

/** Maximum number of conditions in a filter that read the text of each row, since no index serves them. */
const maxTextConditions = 10

/** @throws {ApiError} FILTER_TOO_COMPLEX for more than 60 conditions, or more than 10 that read the text of each row. */
export const boundFilter = (filter: CheckedFilter): void => {
  const conditions = conditionsOf(filter)
  assertAtMost(maxConditions, 'conditions', conditions)
  assertAtMost(maxTextConditions, 'text conditions', conditions.filter(readsText))
}

const assertAtMost = (limit: number, name: string, { length: found }: readonly CheckedFilter[]): void => {
  if (found <= limit) return
  const description = `has ${found} ${name}, where at most ${limit} are possible`
  throw apiError(
    'FILTER_TOO_COMPLEX',
    { field: 'filter', conditions: name, limit: `${limit}`, found: `${found}` },
    { fieldViolations: [{ field: 'filter', description }] },
  )
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
