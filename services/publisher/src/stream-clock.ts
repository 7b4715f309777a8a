/** What time it is for the server that keeps the commands, and that wrote on each when it came. */
export interface StreamClock {
  /** Whether this moment is over; milliseconds since the epoch. Asks the server before it says so. */
  isPast(momentMs: number): Promise<boolean>
}

/**
 * Counts on from the server's last word, so that neither a clock that is wrong here nor one that is put right makes
 * a command late.
 *
 * @param ask the server's time; milliseconds since the epoch.
 */
export const createStreamClock = (ask: () => Promise<number>): StreamClock => {
  let aheadMs = Number.NaN
  const askNow = async () => {
    aheadMs = (await ask()) - performance.now()
  }
  const seemsPast = (momentMs: number) => performance.now() + aheadMs > momentMs
  return {
    async isPast(momentMs) {
      if (Number.isNaN(aheadMs)) await askNow()
      if (!seemsPast(momentMs)) return false
      await askNow()
      return seemsPast(momentMs)
    },
  }
}
