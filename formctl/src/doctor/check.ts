export interface Check {
  check: string
  status: 'ok' | 'warn' | 'fail'
  message: string
  advice?: string
}

export const ok = (check: string, message: string): Check => ({ check, status: 'ok', message })

const problem =
  (status: 'warn' | 'fail') =>
  (check: string, message: string, advice: string): Check => ({ check, status, message, advice })

/** It works, but the operator should know. */
export const warn = problem('warn')

/** Something does not work. */
export const fail = problem('fail')

/** The message of an error. Prefers the driver's message, since ours is for clients of the API. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}

const warnMs = 1_000
const failMs = 30_000

/**
 * Compares this machine's clock with a server's: expiry and timestamps depend on several clocks. `requestedMs` and
 * `receivedMs` are the times of request and response by this machine, in milliseconds since the epoch.
 */
export const checkClock = (server: string, time: Date, requestedMs: number, receivedMs: number): Check => {
  const check = `clock of ${server}`
  const offBy = Math.max(requestedMs - time.getTime(), time.getTime() - receivedMs, 0)
  if (offBy <= warnMs) return ok(check, 'agrees with this machine within a second')
  const message = `differs by ${(offBy / 1000).toFixed(1)} s from this machine's, more than ${(offBy > failMs ? failMs : warnMs) / 1000} s`
  const advice = 'Let NTP (chrony, systemd-timesyncd) set the clocks of all machines.'
  return offBy > failMs ? fail(check, message, advice) : warn(check, message, advice)
}
