/** An estimate of another process's clock. It is never behind the real clock. */
export interface RemoteClock {
  /**
   * Whether the clock has passed `momentMs`. Reads the clock again before it returns true.
   *
   * @throws the error of reading the clock.
   */
  isPast(momentMs: number): Promise<boolean>
  /** The same by the last reading, without I/O. True before the first reading. */
  seemsPast(momentMs: number): boolean
}

/**
 * Extrapolates from the last reading with the monotonic clock of this process, so that wrong or adjusted wall clocks do not
 * matter.
 *
 * @param read reads the remote clock, in milliseconds. A failed first reading is not repeated.
 */
export const createRemoteClock = (read: () => Promise<number>): RemoteClock => {
  let aheadMs = Number.NaN
  const measure = async () => {
    // The remote clock is read after this time, so the offset is never too small.
    const requestedMs = performance.now()
    aheadMs = (await read()) - requestedMs
  }
  let first: Promise<void> | undefined
  let again: Promise<void> | undefined
  const measureAgain = () => {
    again ??= measure().finally(() => {
      again = undefined
    })
    return again
  }
  // Before the first reading, aheadMs is NaN and the comparison is false.
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
