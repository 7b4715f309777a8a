import type { CheckedFilter, OrderOperator } from './check-filter.ts'
import { compareCodePoints } from './compare-code-points.ts'
import { foldCase } from './fold-case.ts'

/** All filterable fields of one item: strings and enums as text, times as whole epoch milliseconds. */
export type FilterRow = Readonly<Record<string, string | number>>

/** Whether an operator holds of two values, by their order: negative, 0 or positive. */
const holds: Record<OrderOperator, (order: number) => boolean> = {
  '=': (order) => order === 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

/**
 * Whether the text is the parts in this order with any run of characters between each two; at least two parts.
 * Taking each part at its first occurrence leaves the most room for the next, so nothing needs a second try.
 */
export const matchesParts = (text: string, parts: readonly string[]): boolean => {
  const [first, middle, last] = [parts[0]!, parts.slice(1, -1), parts.at(-1)!]
  const end = text.length - last.length
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let from = first.length
  for (const part of middle) {
    const index = text.indexOf(part, from)
    if (index === -1) return false
    from = index + part.length
  }
  return from <= end
}

/** Whether a row is one that the filter asks for. What the nodes mean here is what every store owes them. */
export const evaluateFilter = (node: CheckedFilter, row: FilterRow): boolean => {
  const textOf = (field: string) => String(row[field])
  switch (node.kind) {
    case 'and':
      return node.operands.every((operand) => evaluateFilter(operand, row))
    case 'or':
      return node.operands.some((operand) => evaluateFilter(operand, row))
    case 'not':
      return !evaluateFilter(node.operand, row)
    case 'constant':
      return node.value
    case 'compare':
      return holds[node.operator](compareCodePoints(textOf(node.field), node.value))
    case 'match':
      return matchesParts(textOf(node.field), node.parts)
    case 'contains':
      return textOf(node.field).includes(node.text)
    case 'search':
      return foldCase(textOf(node.field)).includes(node.text)
    case 'compareTime':
      return holds[node.operator](Number(row[node.field]) - node.epochMs)
  }
}
