import { FormsConnectionError } from '@fms/client'
import { untracked, useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { isConnected } from './session.ts'

/** Delay before a request is repeated that did not reach the service, or that it was not ready for. Milliseconds. */
const retryMs = 5_000

/**
 * Repeats a request that failed: after some seconds, or as soon as the connection that it has missed is back.
 *
 * @param lastError the error of a request to repeat, from signals. Undefined while one runs.
 */
export const useRetry = (lastError: () => unknown, retry: () => unknown): void => {
  useSignalEffect(() => {
    if (lastError() === undefined) return
    // The browser does not notice when a service that was down responds again.
    const timer = setTimeout(retry, retryMs)
    return () => clearTimeout(timer)
  })
  const wasConnected = useRef(true)
  // Only when it changes: it is true as well while responses begin, and are cut off.
  useSignalEffect(() => {
    const isBack = isConnected.value && !wasConnected.current
    wasConnected.current = isConnected.value
    if (isBack) untracked(() => lastError() instanceof FormsConnectionError && retry())
  })
}
