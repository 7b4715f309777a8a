import { setTimeout as delay } from 'node:timers/promises'
import type { Service } from './processes.ts'

const patienceMs = 30_000

/** Copies of the publisher, each on a port of its own. */
export const furtherPublishers = (programs: Service[], ports: number[]): Service[] => {
  const publisher = programs.find(({ name }) => name === 'publisher')!
  return ports.map((port, index) => ({
    ...publisher,
    name: `publisher-${index + 2}`,
    url: `http://127.0.0.1:${port}`,
    env: { ...publisher.env, PORT: `${port}` },
  }))
}

/** @throws {Error} when `/readyz` still says no after half a minute. */
export const untilReady = async ({ name, url }: Service): Promise<void> => {
  const deadline = performance.now() + patienceMs
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (performance.now() > deadline) throw new Error(`${name} is not ready after ${patienceMs} ms`)
    await delay(20)
  }
}
