import { asText } from '../json/values.ts'

/** Whether two language tags name the same locale: letter case does not count (RFC 5646 §2.1.1). */
export const isSameLocale = (a: unknown, b: unknown): boolean =>
  asText(a).toLowerCase() === asText(b).toLowerCase()

/** The key of a locale in translations. Undefined if it has none there. */
export const keyOfLocale = (translations: object, locale: string): string | undefined =>
  Object.keys(translations).find((each) => isSameLocale(each, locale))
