import type { FilterNode } from './filter-node.ts'

/** The error of the parser for a text that does not match the grammar. */
declare class GrammarError extends Error {
  /** What is valid at this position; only rules with a display name have a description. */
  readonly expected: readonly { readonly type: string; readonly description?: string }[]
  /** In UTF-16 code units, from 0. */
  readonly location: { readonly start: { readonly offset: number } }
}

export { GrammarError as SyntaxError }

/**
 * @param options.columnAt returns the column of an offset in UTF-16 code units.
 * @param options.isTime returns whether a text is an RFC 3339 time.
 * @returns null for an empty text or white space.
 */
export declare const parse: (
  text: string,
  options: { columnAt: (offset: number) => number; isTime: (text: string) => boolean },
) => FilterNode | null
