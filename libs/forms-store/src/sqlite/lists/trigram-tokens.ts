import { trigramsOf } from '../../lists/name-trigrams.ts'

/** Hexadecimal digits at the end of a UUID that are random in all its versions in use. */
const scopeDigits = 8

/** The indexed text of a name: a token per trigram, separated by spaces. */
export const trigramTokens = (organizationId: string, foldedName: string): string =>
  trigramsOf(foldedName)
    .map((trigram) => tokenOf(organizationId, trigram))
    .join(' ')

/**
 * Prefixes a trigram with the end of the organization's id, so that a token's entries belong to one organization. Two
 * organizations whose ids end alike share entries; queries check the organization of each form, so this only costs time.
 */
export const tokenOf = (organizationId: string, trigram: string): string =>
  organizationId.slice(-scopeDigits) + trigram.replace(separators, escapeSeparator)

/** ASCII characters other than letters and digits: the FTS5 tokenizer `ascii` ends a token at them. */
const separators = /[\0-/:-@[-`{-\x7f]/g

/** Maps a separator to a private-use character. A name with that character is a false match, which the filter removes. */
const escapeSeparator = (character: string) => String.fromCharCode(0xe000 + character.charCodeAt(0))
