/** The comparison operators of AIP-160; `:` is its "has" operator. */
export type Comparator = '=' | '!=' | '<' | '<=' | '>' | '>=' | ':'

/** A part of the filter text and its position. */
export interface Token<Text extends string = string> {
  text: Text
  /** Unicode code points, from 1. */
  column: number
}

/** A text with wildcards (AIP-160, "Comparison Operators"). */
export interface Literal {
  /** The texts between the wildcards: `a*b` is `['a', 'b']`, `*` is `['', '']`. */
  parts: string[]
  quoted: boolean
  /** Unicode code points, from 1. */
  column: number
}

/** `field comparator value`. The field is the text of the filter, with its dots, and not validated. */
export interface Comparison {
  kind: 'comparison'
  field: Token
  comparator: Token<Comparator>
  value: Literal
}

/** A function call (AIP-160, "Functions"). */
export interface Call {
  kind: 'call'
  name: Token
  args: Literal[]
}

/** The syntax tree of a filter. Fields and values are not validated: see `checkFilter`. */
export type FilterNode =
  | { kind: 'and' | 'or'; operands: FilterNode[] }
  | { kind: 'not'; operand: FilterNode }
  | Comparison
  | Call
  /** A bare literal (AIP-160, "Literals"). */
  | { kind: 'text'; text: Literal }
