import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from './processes.ts'

const timeoutMs = 60_000
/** Each attempt takes a millisecond of CPU time, which the service that starts lacks. */
const pollMs = 100

/** Further instances of the publisher among `programs`, one on each of `ports`. */
export const additionalPublishers = (programs: Service[], ports: number[]): Service[] => {
  const publisher = programs.find(({ name }) => name === 'publisher')!
  return ports.map((port, index) => ({
    ...publisher,
    name: `publisher-${index + 2}`,
    url: `http://127.0.0.1:${port}`,
    env: { ...publisher.env, PORT: `${port}` },
  }))
}

/** Whether `/readyz` responds with 2xx within two seconds. */
export const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

/**
 * Resolves once a service is ready.
 *
 * @param check is called after each failed attempt, and may throw.
 * @throws {Error} after 60 seconds.
 */
export const waitUntilReady = async ({ name, url }: Service, check = () => {}): Promise<void> => {
  const deadline = performance.now() + timeoutMs
  while (!(await isReady(url))) {
    check()
    if (performance.now() > deadline) {
      throw new Error(`${name} is not ready after ${timeoutMs / 1000} s; its output above may say why.`)
    }
    await delay(pollMs)
  }
}
