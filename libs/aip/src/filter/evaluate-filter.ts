import type { CheckedFilter, OrderOperator } from './checked-filter.ts'
import { compareCodePoints } from './compare-code-points.ts'
import { foldCase } from './fold-case.ts'

/** The filterable fields of an item: strings and enums as text, times as whole milliseconds since the epoch. */
export type FilterRow = Readonly<Record<string, string | number>>

/** Whether an operator holds for two values, given their order: negative, 0 or positive. */
const holds: Record<OrderOperator, (order: number) => boolean> = {
  '=': (order) => order === 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
}

/** Whether a text is the parts, two or more, with anything between. Linear: no later occurrence of a part fits better. */
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

/** Whether a row matches a filter. The reference for the filters of every store. */
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
