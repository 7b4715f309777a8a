/** The clock of another process, seen from here. It never seems to stand earlier than it does. */
export interface RemoteClock {
  /**
   * Whether this moment of that clock is over; milliseconds. Reads the clock again before it says so.
   *
   * @throws what reading the clock throws.
   */
  isPast(momentMs: number): Promise<boolean>
  /** The same by the last reading, without a wait; true before the first. */
  seemsPast(momentMs: number): boolean
}

/**
 * Counts on from the last reading with the monotonic clock of this process, so that neither a wall clock that is wrong
 * nor one that is put right plays a part.
 *
 * @param read the time that clock shows, in milliseconds. A first reading that fails is not repeated.
 */
export const createRemoteClock = (read: () => Promise<number>): RemoteClock => {
  let aheadMs = Number.NaN
  const measure = async () => {
    // The clock was read later than this, so it cannot be further ahead.
    const begun = performance.now()
    aheadMs = (await read()) - begun
  }
  let first: Promise<void> | undefined
  let again: Promise<void> | undefined
  const measureAgain = () => {
    again ??= measure().finally(() => {
      again = undefined
    })
    return again
  }
  // Without a reading the comparison is false.
  const seemsPast = (momentMs: number) => !(performance.now() + aheadMs <= momentMs)
  return {
    seemsPast,
    async isPast(momentMs) {
      first ??= measure()
      await first
      if (!seemsPast(momentMs)) return false
      await measureAgain()
      return seemsPast(momentMs)
    },
  }
}
