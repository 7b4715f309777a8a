import { type Check, fail, ok, warn } from './check.ts'

const warnMs = 1_000
const failMs = 30_000

/**
 * Compares this machine's clock with a server's: keys expire, and times are given, by several clocks.
 *
 * @param askedMs when the server was asked, and `answeredMs` when it had answered, by this machine's clock.
 */
export const checkClock = (server: string, time: Date, askedMs: number, answeredMs: number): Check => {
  const check = `clock of ${server}`
  const offBy = Math.max(askedMs - time.getTime(), time.getTime() - answeredMs, 0)
  if (offBy <= warnMs) return ok(check, 'agrees with this machine within a second')
  const message = `is ${(offBy / 1000).toFixed(1)} s away from this machine's`
  const advice = 'Let NTP (chrony, systemd-timesyncd) set the clocks of all machines.'
  return offBy > failMs ? fail(check, message, advice) : warn(check, message, advice)
}
