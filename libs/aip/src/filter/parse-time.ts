/** An instant of any precision. */
export interface Time {
  /** Milliseconds since 1970-01-01T00:00:00Z, rounded down. */
  epochMs: number
  /** Whether `epochMs` is exact: the time has no digits beyond milliseconds other than 0. */
  exact: boolean
}

// date-time = full-date "T" full-time
const dateTime = new RegExp(
  String.raw`^(?<date>\d{4}-\d\d-\d\d)T(?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d+))?` +
    String.raw`(?:Z|(?<sign>[+-])(?<hours>[01]\d|2[0-3]):(?<minutes>[0-5]\d))$`,
  'i',
)

/**
 * Parses an RFC 3339 `date-time`: years 0000 to 9999, a fraction of any length, offset `Z` or `±hh:mm`, `T` and `Z` in
 * either case. Undefined for anything else, such as a day that does not exist, or a leap second (`:60`), which epoch time
 * cannot represent.
 */
export const parseTime = (text: string): Time | undefined => {
  const { date, time, fraction = '', sign, hours = 0, minutes = 0 } = dateTime.exec(text)?.groups ?? {}
  const utc = `${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
  const instant = new Date(utc)
  // Date rolls an invalid day over to the next month, so its text differs from the input.
  if (Number.isNaN(instant.getTime()) || instant.toISOString() !== utc) return undefined
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  return {
    epochMs: instant.getTime() - (sign === '-' ? -offsetMs : offsetMs),
    exact: /^0*$/.test(fraction.slice(3)),
  }
}
