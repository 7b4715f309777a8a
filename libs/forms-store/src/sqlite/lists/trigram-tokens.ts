import { trigramsOf } from '../../lists/name-trigrams.ts'

/** So many hexadecimal digits at the end of a UUID are random in every version that is in use. */
const scopeDigits = 8

/** What the index has of a name: a token for each trigram, by white space. */
export const trigramTokens = (organizationId: string, foldedName: string): string =>
  trigramsOf(foldedName)
    .map((trigram) => tokenOf(organizationId, trigram))
    .join(' ')

/**
 * The organization is part of each token, so that a list of entries belongs to one organization; two whose ids end alike
 * share their lists, which costs time and finds nothing foreign, since every form found is looked at.
 */
export const tokenOf = (organizationId: string, trigram: string): string =>
  organizationId.slice(-scopeDigits) + trigram.replace(separators, forSeparator)

/** FTS5's tokenizer `ascii` ends a token at ASCII characters other than letters and digits. */
const separators = /[\0-/:-@[-`{-\x7f]/g

/** A private character in its place: a name that holds just that is found once too often, and left out when looked at. */
const forSeparator = (character: string) => String.fromCharCode(0xe000 + character.charCodeAt(0))
