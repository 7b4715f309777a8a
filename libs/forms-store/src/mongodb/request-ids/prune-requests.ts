import type { FormsCollections } from '../documents.ts'

/**
 * A request may be reserved again, by a repeat, a little after its event was recorded. Its reservation has to go before the
 * event, without which it would be carried out again. In milliseconds.
 */
const marginMs = 60_000

/**
 * Deletes reservations of requests whose events are from before `before`, at most `limit`. Index: requests_by_reserveTime.
 */
export const pruneRequests = async (
  { requests }: FormsCollections,
  before: Date,
  limit: number,
): Promise<number> => {
  const reserveTime = { $lt: before.getTime() + marginMs }
  const options = { sort: { reserveTime: 1 }, limit, fields: ['_id'] } as const
  const old = await Array.fromAsync(requests.find({ reserveTime }, options))
  if (old.length === 0) return 0
  return requests.deleteMany({ _id: { $in: old.map(({ _id }) => _id) }, reserveTime })
}
