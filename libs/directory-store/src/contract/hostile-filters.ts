import type { CheckedFilter } from '@fms/aip'
import fc from 'fast-check'
import { start } from './given.ts'

/**
 * Letters, characters with a meaning in some store (wildcards, escapes, quotes, NUL), the ends of planes, and characters
 * whose order by code point and by UTF-16 code unit differ.
 */
const hostileLetters = 'aAbé%_*?[]\\\'"$.^ \0\n\ud7ff\ue000\uff5e\u{1f600}\u{10ffff}'

/** Short texts of hostile letters. */
export const hostileText = fc.string({ unit: fc.constantFrom(...hostileLetters), maxLength: 4 })

/** Filters on organizations with createTimes from `start` on. */
export const organizationFilter = fc.letrec<{ filter: CheckedFilter }>((tie) => {
  const field = fc.constantFrom('name', 'slug')
  const operator = fc.constantFrom('=' as const, '<' as const, '<=' as const, '>' as const, '>=' as const)
  const operands = fc.array(tie('filter'), { minLength: 1, maxLength: 3 })
  return {
    filter: fc.oneof(
      { maxDepth: 3 },
      fc.record({ kind: fc.constant('compare' as const), field, operator, value: hostileText }),
      fc.record({
        kind: fc.constant('match' as const),
        field,
        parts: fc.array(hostileText, { minLength: 2, maxLength: 4 }),
      }),
      fc.record({
        kind: fc.constant('contains' as const),
        field,
        text: hostileText.filter((text) => text !== ''),
      }),
      fc.record({
        kind: fc.constant('compareTime' as const),
        field: fc.constant('createTime'),
        operator,
        epochMs: fc.integer({ min: start - 1, max: start + 5 }),
      }),
      fc.record({ kind: fc.constant('constant' as const), value: fc.boolean() }),
      fc.record({ kind: fc.constant('not' as const), operand: tie('filter') }),
      fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), operands }),
    ),
  }
}).filter
