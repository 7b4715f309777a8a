import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from './processes.ts'

const timeoutMs = 30_000
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

/** Resolves once `/readyz` responds with 2xx. @throws {Error} after 30 seconds. */
export const waitUntilReady = async ({ name, url }: Service): Promise<void> => {
  const deadline = performance.now() + timeoutMs
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (performance.now() > deadline) throw new Error(`${name} is not ready after ${timeoutMs} ms`)
    await delay(pollMs)
  }
}
