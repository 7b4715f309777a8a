import { describe, expect, it } from 'vitest'
import { Count, HttpUrl, LanguageTag, OptionalUrl, Timestamp, text } from './text.ts'

const takes = (schema: { safeParse(value: unknown): { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success

describe('text', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['😀😀😀', 3],
    ['e\u0301', 2],
    ['👩‍👩‍👧', 5],
    ['\0', 1],
  ])('%j has as many characters as code points: %i', (value, length) => {
    expect(takes(text(length), value)).toBe(true)
    if (length > 0) expect(takes(text(length - 1), value)).toBe(false)
    expect(takes(text(10, length + 1), value)).toBe(false)
  })
})

describe('a URL', () => {
  it.each([
    'https://example.com',
    'HTTP://EXAMPLE.COM:8080/a?b=c#d',
    'http://localhost',
    'http://[::1]:3000/',
    'https://user:secret@example.com/%20',
    'https://例え.jp/ü',
  ])('%s', (url) => {
    expect(HttpUrl.parse(url)).toBe(url)
    expect(OptionalUrl.parse(url)).toBe(url)
  })

  it.each([
    'example.com',
    '/path',
    '//example.com',
    'https:example.com',
    'https://',
    'https:///path',
    'https://a b.com',
    ' https://example.com',
    'https://example.com\n',
    'https://exam\tple.com',
    'https://example.com:99999',
    'ftp://example.com',
    'javascript:alert(1)//https://example.com',
    'data:text/html,x',
    1,
    null,
  ])('not %j', (url) => {
    expect(takes(HttpUrl, url)).toBe(false)
    expect(takes(OptionalUrl, url)).toBe(false)
  })

  it('may be empty only if it is optional', () => {
    expect(takes(OptionalUrl, '')).toBe(true)
    expect(takes(HttpUrl, '')).toBe(false)
  })
})

describe('a language tag', () => {
  it.each([
    'en',
    'EN',
    'pt-BR',
    'pt-br',
    'zh-Hant-TW',
    'zh-cmn-Hans-CN',
    'es-419',
    'de-CH-1901',
    'sl-rozaj-biske',
    'en-US-u-islamcal',
    'de-a-value-x-private',
    'x-private',
    'x-a-b',
    'i-klingon',
    'en-GB-oed',
    'zh-min-nan',
  ])('%s', (tag) => {
    expect(LanguageTag.parse(tag)).toBe(tag)
  })

  it.each([
    '',
    'e',
    'en_US',
    'en-',
    '-en',
    'en--US',
    'en-u',
    'x',
    'x-',
    'i-nothing',
    'toolongtag',
    'en US',
    'en\n',
    'ſl',
    1,
  ])('not %j', (tag) => {
    expect(takes(LanguageTag, tag)).toBe(false)
  })
})

describe('a count', () => {
  it.each([0, 1, 9007199254740991])('%s', (count) => {
    expect(Count.parse(count)).toBe(count)
  })

  it.each([-1, 0.5, 9007199254740992, Number.POSITIVE_INFINITY, Number.NaN, '1', null])('not %s', (count) => {
    expect(takes(Count, count)).toBe(false)
  })
})

describe('a timestamp', () => {
  it('is in UTC, with milliseconds', () => {
    expect(takes(Timestamp, new Date(0).toISOString())).toBe(true)
    expect(takes(Timestamp, '2026-11-20T09:30:00Z')).toBe(false)
    expect(takes(Timestamp, '2026-11-20T09:30:00.000+00:00')).toBe(false)
  })
})
