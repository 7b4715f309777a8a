import { z } from 'zod'

const codePoints = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** A code point has one or two code units, so `length` decides for most texts without counting. */
const hasLength = (text: string, min: number, max: number): boolean => {
  const [fewest, most] = [Math.ceil(text.length / 2), text.length]
  if (min <= fewest && most <= max) return true
  return fewest <= max && isBetween(min, codePoints(text), max)
}

const isBetween = (min: number, value: number, max: number) => min <= value && value <= max

/** Text of `min` (default 0) to `max` Unicode code points, neither trimmed nor normalised. */
export const text = (max: number, min = 0) =>
  z
    .string()
    .refine((value) => hasLength(value, min, max), {
      error: min > 0 ? `must have ${min} to ${max} characters` : `must have at most ${max} characters`,
      // Further refinements run too, so that one error lists all issues.
      abort: false,
    })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max })

/** A name for people: text of 1 to `max` characters that is not only white space. */
export const displayName = (max: number) =>
  text(max, 1)
    .refine((name) => name === '' || /[^\s\p{White_Space}]/u.test(name), {
      error: 'must not be only white space',
    })
    .meta({ pattern: '[^\\s\\x85]' })

/** An open enumeration: any text of 1 to 64 characters. The maker's client defines the values. */
export const openValue = text(64, 1)

// URL.canParse accepts white space and a missing host.
const isHttpUrl = (value: string) =>
  /^https?:\/\/[^\s\p{Cc}/?#][^\s\p{Cc}]*$/iu.test(value) && URL.canParse(value)

/** An absolute http or https URL (RFC 3986). */
export const HttpUrl = z
  .string()
  .refine(isHttpUrl, { error: 'must be an absolute http or https URL' })
  .meta({ format: 'uri' })

/** `""` or an absolute http or https URL (RFC 3986). */
export const OptionalUrl = z
  .string()
  .refine((value) => value === '' || isHttpUrl(value), {
    error: 'must be empty or an absolute http or https URL',
  })
  .meta({
    pattern: '^([Hh][Tt][Tt][Pp][Ss]?://[^\\s\\x00-\\x1f\\x7f-\\x9f/?#][^\\s\\x00-\\x1f\\x7f-\\x9f]*)?$',
  })
  .describe('`""` or an absolute http or https URL.')

/** RFC 3339 date-time in UTC with milliseconds, such as `2026-11-20T09:30:00.000Z`. */
export const Timestamp = z.iso.datetime({ precision: 3 }).describe('RFC 3339, UTC, with milliseconds.')

/** The largest integer that every JSON parser reads exactly: 2^53 - 1 (RFC 8259 §6). */
export const maxSafeInteger = Number.MAX_SAFE_INTEGER

/** An integer from 0 to 9007199254740991. */
export const Count = z
  .number({ error: 'must be an integer' })
  .refine((value) => Number.isSafeInteger(value) && value >= 0, {
    error: `must be an integer from 0 to ${maxSafeInteger}`,
  })
  .meta({ type: 'integer', minimum: 0, maximum: maxSafeInteger })

/** The langtag, privateuse and grandfathered productions of RFC 5646 §2.1. */
const languageTag = new RegExp(
  [
    '^(?:',
    '(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4}|[a-z]{5,8})', // language, with extended language subtags
    '(?:-[a-z]{4})?', // script
    '(?:-(?:[a-z]{2}|[0-9]{3}))?', // region
    '(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*', // variants
    '(?:-[0-9a-wy-z](?:-[a-z0-9]{2,8})+)*', // extensions
    '(?:-x(?:-[a-z0-9]{1,8})+)?', // private use
    '|x(?:-[a-z0-9]{1,8})+',
    '|en-GB-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|sgn-(?:BE-FR|BE-NL|CH-DE)',
    '|art-lojban|cel-gaulish|no-(?:bok|nyn)|zh-(?:guoyu|hakka|min|min-nan|xiang)',
    ')$',
  ].join(''),
  'i',
)

/** A well-formed BCP 47 language tag (RFC 5646), any letter case: `en`, `pt-BR`, `zh-Hant-TW`. */
export const LanguageTag = z
  .string()
  .refine((value) => languageTag.test(value), {
    error: 'must be a BCP 47 language tag such as "en" or "pt-BR"',
  })
  // JSON Schema patterns have no flags, and the full pattern is hard to read: this one only checks the subtags.
  .meta({ pattern: '^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$' })
  .describe('A BCP 47 language tag such as `en` or `pt-BR`.')
