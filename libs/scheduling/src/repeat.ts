/** The longest part of a pause that is left out at random, so that processes do not work in step. */
const jitter = 0.3

/**
 * Runs `work` now and after each pause until stopped, one run at a time.
 *
 * @param intervalMs the longest pause.
 * @param work stops soon after the signal aborts.
 * @param debounceMs how long a run waits for further wakes.
 */
export const repeat = (
  intervalMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
  debounceMs = 0,
) => {
  const stopping = new AbortController()
  let isWoken = false
  let hasFailed = false
  let isGathering = false
  let endPause = () => {}

  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref()
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
    /** Starts the next run now, or after the current one. Gathering, and a pause after a failure, are not shortened. */
    wake(): void {
      isWoken = true
      if (!hasFailed && !isGathering) endPause()
    },
    async stop(): Promise<void> {
      stopping.abort()
      endPause()
      await running
    },
  }
}
