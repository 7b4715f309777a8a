import { throttle } from '@fms/service-kit'

/** Returns a function that counts its calls. Calls `log` with the count and the latest error, at most once in `pauseMs`. */
export const countedLog = (pauseMs: number, log: (count: number, err: unknown) => void) => {
  let count = 0
  let latest: unknown
  const write = throttle(() => {
    log(count, latest)
    count = 0
  }, pauseMs)
  return (err?: unknown): void => {
    count++
    latest = err
    write()
  }
}
