import { type EventBacklog, openFormsStore } from '@fms/forms-store'
import { type Check, fail, ok, reasonOf, warn } from './check.ts'

const check = 'relay of events'
const warnMs = 60_000

/** Checks how far the publishers are behind in moving events to the stream. */
export const checkRelay = async (formsUrl: string, now: Date): Promise<Check> => {
  try {
    await using store = await openFormsStore(formsUrl, { readOnly: true })
    return relayCheck(await store.events.backlog(), now)
  } catch (error) {
    return fail(check, `not checked: ${reasonOf(error)}`, 'Check the forms store first.')
  }
}

export const relayCheck = ({ pending, unstreamed, oldestTime }: EventBacklog, now: Date): Check => {
  const behind = pending + unstreamed
  if (behind === 0 || !oldestTime) return ok(check, 'is up to date')
  const ageMs = Math.max(0, now.getTime() - oldestTime.getTime())
  const message = `${behind} events wait, the oldest for ${Math.floor(ageMs / 1_000)} s`
  if (ageMs <= warnMs) return ok(check, message)
  const advice =
    pending > 0 ? 'Until then, they are missing in the log, too.' : 'The log of the API has them.'
  return warn(check, message, `Start a publisher, and check that it reaches NATS. ${advice}`)
}
