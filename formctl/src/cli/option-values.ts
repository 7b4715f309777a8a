import { parseJson as parseStrictJson } from '@fms/aip'
import { isRfc3339, isUuid } from '@fms/contracts'
import { InvalidArgumentError } from 'commander'
import type { Command } from './command.ts'

/** Parses JSON. @returns the value in an object, since Commander treats null as no value. */
export const parseJson = (text: string) => {
  try {
    return { value: parseStrictJson(Buffer.from(text)) }
  } catch {
    throw new InvalidArgumentError(
      'It must be JSON, such as \'{"plan": "pro"}\' or \'"text"\'. No name may be given twice or be __proto__, constructor or prototype, and numbers must fit a double.',
    )
  }
}

export const parseTime = (text: string): Date => {
  const time = text.toUpperCase()
  if (isRfc3339(time)) return new Date(time)
  throw new InvalidArgumentError(
    'It must be an RFC 3339 time before the year 10000, such as 2026-11-20T09:30:00Z.',
  )
}

export const parseFutureTime = (text: string): Date => {
  const time = parseTime(text)
  if (time.getTime() > Date.now()) return time
  throw new InvalidArgumentError('It must be in the future.')
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses `90s`, `30m`, `24h`, `7d` or `0`. @returns milliseconds. */
export const parseDuration = (text: string): number => {
  const [, digits, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (text === '0') return 0
  if (unit) return Number(digits) * unitMs[unit as keyof typeof unitMs]
  throw new InvalidArgumentError('It must be a number and s, m, h or d, such as 24h; or 0.')
}

export const parseWholeFrom =
  (min: number) =>
  (text: string): number => {
    const number = Number(text)
    if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= min) return number
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${Number.MAX_SAFE_INTEGER}.`)
  }

/** Parses the base URL of an API. @returns it without a slash at its end. */
export const parseBaseUrl = (text: string): string => {
  const url = URL.parse(text)
  const path = url?.pathname.replace(/\/+$/, '')
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && path?.endsWith('/v2'))
    return `${url.origin}${path}`
  throw new InvalidArgumentError('It must be the URL of the API, such as https://forms.example.com/v2.')
}

/** Parses a UUID (RFC 9562), letter case ignored. */
export const parseUuid = (text: string): string => {
  if (isUuid(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be a UUID, such as 5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44.')
}

/** Parses an entity-tag of RFC 9110 §8.8.3, or `*`. */
export const parseEtag = (text: string): string => {
  if (/^(\*|(W\/)?"[\x21\x23-\x7e]*")$/.test(text)) return text
  throw new InvalidArgumentError('It must be an ETag with its quotes, such as \'"3-live.12"\'; or *.')
}

/** @throws {CommanderError} invalid usage if every field of `change` is undefined. */
export const requireChange = (command: Command, change: object): void => {
  if (Object.values(change).some((value) => value !== undefined)) return
  const names = command.options.flatMap(({ long, mandatory }) => (mandatory ? [] : [long])).join(', ')
  command.error(`error: nothing to change; add at least one of ${names}`)
}
