import { effect } from '@preact/signals'

/**
 * Calls `run` after changes of signals, once there was none for a while.
 *
 * @param watch reads the signals
 * @returns stops it
 */
export const afterPauses = (delayMs: number, watch: () => void, run: () => void): (() => void) => {
  let isFirst = true
  return effect(() => {
    watch()
    if (isFirst) {
      isFirst = false
      return
    }
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  })
}
