import { searchedTrigrams, trigramsOf } from '../trigrams.ts'

/** So many hexadecimal digits at the end of a UUID are random in every version that is in use. */
const scopeDigits = 8

/**
 * What the index of trigrams has of a name: one token for each trigram. The organization is part of each token, so that
 * a list of entries belongs to one organization; two whose ids end alike share their lists, which costs time and finds
 * nothing foreign, since every form found is looked at.
 */
export const trigramTokens = (organizationId: string, foldedName: string): string =>
  tokensOf(organizationId, trigramsOf(foldedName)).join(' ')

/** The tokens that each name with this text has; none where the text is too short. */
export const searchTokens = (organizationId: string, foldedText: string): string[] =>
  tokensOf(organizationId, searchedTrigrams(foldedText))

const tokensOf = (organizationId: string, trigrams: string[]): string[] => {
  const scope = organizationId.slice(-scopeDigits)
  return trigrams.map((trigram) => scope + trigram.replace(separators, forSeparator))
}

/** FTS5's tokenizer `ascii` ends a token at ASCII characters other than letters and digits. */
const separators = /[\0-/:-@[-`{-\x7f]/g

/** A private character in its place: a name that holds just that is found once too often, and left out when looked at. */
const forSeparator = (character: string) => String.fromCharCode(0xe000 + character.charCodeAt(0))
