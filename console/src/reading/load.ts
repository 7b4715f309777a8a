import { FormsConnectionError } from '@fms/client'
import { type Signal, useSignal, useSignalEffect } from '@preact/signals'
import { useRetry } from '../session/retry.ts'

/** What a page has read. */
export interface Loaded<T> {
  value: T | undefined
  error: unknown
  isLoading: boolean
}

/**
 * Reads what a component shows, again when a signal in `read` changes, and until a reading reaches the service. The former
 * reading is aborted; its value stays until the next one arrives.
 *
 * @param read may read signals before its first await.
 */
export const useLoaded = <T>(
  read: (signal: AbortSignal) => Promise<T>,
): { loaded: Signal<Loaded<T>>; reload: () => void } => {
  const loaded = useSignal<Loaded<T>>({ value: undefined, error: undefined, isLoading: true })
  const { times, reload } = useReloads(() => {
    const { error, isLoading } = loaded.value
    return isLoading ? undefined : error
  })
  useSignalEffect(() => {
    times.value
    const abort = new AbortController()
    const show = (next: Partial<Loaded<T>>) => {
      if (!abort.signal.aborted) loaded.value = { ...loaded.peek(), isLoading: false, ...next }
    }
    loaded.value = { ...loaded.peek(), isLoading: true }
    read(abort.signal).then(
      (value) => show({ value, error: undefined }),
      (error) => show({ error }),
    )
    return () => abort.abort()
  })
  return { loaded, reload }
}

/**
 * Counts the reloads of a page: those that somebody has chosen, and those after a reading that did not reach the service.
 *
 * @param lastError the error with which the last reading ended, from signals. Undefined while another one runs.
 */
export const useReloads = (lastError: () => unknown): { times: Signal<number>; reload: () => void } => {
  const times = useSignal(0)
  const reload = () => {
    times.value = times.peek() + 1
  }
  useRetry(() => (lastError() instanceof FormsConnectionError ? lastError() : undefined), reload)
  return { times, reload }
}
