import { effect } from '@preact/signals'

/**
 * Calls `run` after changes of signals, once there was none for a while; `flush` calls it at once if it is due.
 *
 * @param watch reads the signals and returns the delay in milliseconds.
 */
export const afterPauses = (run: () => void, watch: () => number) => {
  let isFirst = true
  let timer: ReturnType<typeof setTimeout> | undefined
  const runNow = () => {
    timer = undefined
    run()
  }
  const stop = effect(() => {
    const delayMs = watch()
    if (isFirst) {
      isFirst = false
      return
    }
    timer = setTimeout(runNow, delayMs)
    return () => clearTimeout(timer)
  })
  const flush = () => {
    if (timer === undefined) return
    clearTimeout(timer)
    runNow()
  }
  return { flush, stop }
}
