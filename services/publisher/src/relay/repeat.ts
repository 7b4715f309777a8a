/** Work that runs again and again until it is stopped. One run at a time. */
export interface Repeating {
  /** Starts the next run immediately, or right after the current one. A pause after a failed run is not shortened. */
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
 */
export const repeat = (
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeating => {
  const stopping = new AbortController()
  let isWoken = false
  let hasFailed = false
  let endPause = () => {}

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, intervalMs * (1 - jitter * Math.random()))
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
  const run = async () => {
    while (!stopping.signal.aborted) {
      await runOnce()
      if (!stopping.signal.aborted && (hasFailed || !isWoken)) await pause()
    }
  }
  const running = run()

  return {
    wake() {
      isWoken = true
      if (!hasFailed) endPause()
    },
    async stop() {
      stopping.abort()
      endPause()
      await running
    },
  }
}
