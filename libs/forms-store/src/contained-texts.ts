import { type CheckedFilter, foldCase } from '@fms/aip'
import { trigramsOf } from './trigrams.ts'

/** What each form has to be that the filter holds for. */
export const conjunctsOf = (filter: CheckedFilter): CheckedFilter[] =>
  filter.kind === 'and' ? filter.operands.flatMap(conjunctsOf) : [filter]

/** Those that the folded name of each form has, that the filter holds for. */
export const trigramsOfNames = (filter: CheckedFilter): string[] => [
  ...new Set(conjunctsOf(filter).flatMap(containedTexts).flatMap(trigramsOf)),
]

/** Texts that the folded name contains; case folding leaves each code point one. */
const containedTexts = (node: CheckedFilter): string[] => {
  if (node.kind === 'search') return [node.text]
  if (node.kind === 'contains' && node.field === 'name') return [foldCase(node.text)]
  if (node.kind === 'match' && node.field === 'name') return node.parts.map(foldCase)
  return []
}
