import type { FilterNode } from './parse-filter.ts'

/** A text that the grammar does not describe. */
declare class GrammarError extends Error {
  /** What could have stood there; only rules with a display name have a description. */
  readonly expected: readonly { readonly type: string; readonly description?: string }[]
  /** In UTF-16 units, from 0. */
  readonly location: { readonly start: { readonly offset: number } }
}

export { GrammarError as SyntaxError }

/**
 * @param options.columnAt the column to note for an offset in UTF-16 units.
 * @param options.isTime whether a text is an RFC 3339 time.
 * @returns null when the text holds nothing but white space.
 */
export declare const parse: (
  text: string,
  options: { columnAt: (offset: number) => number; isTime: (text: string) => boolean },
) => FilterNode | null
