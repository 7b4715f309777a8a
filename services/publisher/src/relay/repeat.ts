/** Work that runs again and again until it is stopped. One run at a time. */
export interface Repeating {
  /**
   * Starts the next run now, or right after the current one, but for the time to gather. A pause after a failed run is not
   * shortened.
   */
  wake(): void
  /** Resolves once the current run has ended. */
  stop(): Promise<void>
}

/** The longest part of a pause that is left out at random, so that processes do not work in step. */
const jitter = 0.3

/**
 * Runs `work` now and again after each pause.
 *
 * @param intervalMs the longest pause, in milliseconds.
 * @param work stops soon after the signal aborts.
 * @param onError is called with what `work` throws.
 * @param debounceMs how long a run waits for further wakes after the first one, so that it does their work together, in
 *   milliseconds.
 */
export const repeat = (
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
  debounceMs = 0,
): Repeating => {
  const stopping = new AbortController()
  let isWoken = false
  let hasFailed = false
  let isGathering = false
  let endPause = () => {}

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const runOnce = async () => {
    isWoken = false
    hasFailed = false
    try {
      await work(stopping.signal)
    } catch (error) {
      hasFailed = true
      onError(error)
    }
  }
  const gather = async () => {
    isGathering = true
    await pause(debounceMs)
    isGathering = false
  }
  const isStopped = () => stopping.signal.aborted
  const run = async () => {
    while (!isStopped()) {
      await runOnce()
      if (!isStopped() && (hasFailed || !isWoken)) await pause(intervalMs * (1 - jitter * Math.random()))
      if (!isStopped() && isWoken && debounceMs > 0) await gather()
    }
  }
  const running = run()

  return {
    wake() {
      isWoken = true
      if (!hasFailed && !isGathering) endPause()
    },
    async stop() {
      stopping.abort()
      endPause()
      await running
    },
  }
}
