import { type Check, fail, ok, warn } from './check.ts'

const warnMs = 1_000
const failMs = 30_000

/**
 * Compares this machine's clock with a server's, since expiry and timestamps depend on the clocks of several machines.
 *
 * @param requestedMs time of the request by this machine's clock, milliseconds since the epoch.
 * @param receivedMs time of the response by the same clock.
 */
export const checkClock = (server: string, time: Date, requestedMs: number, receivedMs: number): Check => {
  const check = `clock of ${server}`
  const offBy = Math.max(requestedMs - time.getTime(), time.getTime() - receivedMs, 0)
  if (offBy <= warnMs) return ok(check, 'agrees with this machine within a second')
  const message = `differs by ${(offBy / 1000).toFixed(1)} s from this machine's`
  const advice = 'Let NTP (chrony, systemd-timesyncd) set the clocks of all machines.'
  return offBy > failMs ? fail(check, message, advice) : warn(check, message, advice)
}
