import { type Signal, useSignal } from '@preact/signals'

/** Runs an action of a button: at most one at a time. Its error stays until an action succeeds, or it is removed. */
export const useAction = (): {
  error: Signal<unknown>
  isRunning: Signal<boolean>
  run: (action: () => Promise<void>) => Promise<void>
  /** Removes the error, whose cause is gone. */
  clearError: () => void
} => {
  const error = useSignal<unknown>(undefined)
  const isRunning = useSignal(false)
  const run = async (action: () => Promise<void>) => {
    if (isRunning.value) return
    isRunning.value = true
    try {
      await action()
      error.value = undefined
    } catch (thrown) {
      error.value = thrown
    } finally {
      isRunning.value = false
    }
  }
  const clearError = () => {
    error.value = undefined
  }
  return { error, isRunning, run, clearError }
}
