/** The comparison operators of a checked filter, in which `!=` is the negation of `=`. */
export type OrderOperator = '=' | '<' | '<=' | '>' | '>='

/**
 * A validated filter for any store: fields are declared, values have their types. `evaluateFilter` defines its meaning.
 */
export type CheckedFilter =
  | { kind: 'and' | 'or'; operands: CheckedFilter[] }
  | { kind: 'not'; operand: CheckedFilter }
  /** Matches every row, or none. */
  | { kind: 'constant'; value: boolean }
  /** Compares strings by code point, case-sensitive. For an enum the operator is always `=`. */
  | { kind: 'compare'; field: string; operator: OrderOperator; value: string }
  /** Wildcard match: the field consists of the parts, two or more, with any characters between them. */
  | { kind: 'match'; field: string; parts: string[] }
  /** The field contains the text, which is not empty; case-sensitive. */
  | { kind: 'contains'; field: string; text: string }
  /** The field contains the text after `foldCase`. The text is folded already and not empty. */
  | { kind: 'search'; field: string; text: string }
  /** Compares instants in whole milliseconds since 1970-01-01T00:00:00Z. */
  | { kind: 'compareTime'; field: string; operator: OrderOperator; epochMs: number }
