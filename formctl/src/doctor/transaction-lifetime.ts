import type { StoreState } from '@fms/store-kit'
import { type Check, ok, warn } from './check.ts'

/** A killed process keeps its documents locked for at most this long, in seconds. */
const maxSeconds = 5

const parameter = 'transactionLifetimeLimitSeconds'

const setParameter = `Run on each member: mongosh --eval 'db.adminCommand({ setParameter: 1, ${parameter}: ${maxSeconds} })', and start mongod with --setParameter ${parameter}=${maxSeconds}.`

/** Checks after how many seconds MongoDB aborts a transaction that a killed process left open. */
export const checkTransactionLifetime = (
  store: string,
  lifetime: NonNullable<StoreState['transactionLifetime']>,
): Check => {
  const check = `transactions of ${store}`
  if (lifetime === 'forbidden') {
    return warn(
      check,
      `not checked: the user must not read ${parameter}`,
      `Give the user of formctl the role clusterMonitor. ${setParameter}`,
    )
  }
  if (lifetime === 'not reported') return ok(check, `not checked: the server does not report ${parameter}`)
  if (lifetime <= maxSeconds) return ok(check, `a killed process locks forms for at most ${lifetime} s`)
  return warn(check, `a killed process locks forms for up to ${lifetime} s`, setParameter)
}
