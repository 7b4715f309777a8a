/** An estimate of another process's clock in milliseconds, never behind it. A failed first reading is not repeated. */
export const createRemoteClock = (read: () => Promise<number>) => {
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
  /** Whether the clock has passed `momentMs` by the last reading, without I/O. True before the first reading. */
  const seemsPast = (momentMs: number): boolean =>
    // Before the first reading, aheadMs is NaN and the comparison is false.
    !(performance.now() + aheadMs <= momentMs)
  return {
    seemsPast,
    /** The same, but reads the clock again before it returns true. @throws the error of reading the clock. */
    async isPast(momentMs: number): Promise<boolean> {
      first ??= measure()
      await first
      if (!seemsPast(momentMs)) return false
      await measureAgain()
      return seemsPast(momentMs)
    },
  }
}

export type RemoteClock = ReturnType<typeof createRemoteClock>
