import { setTimeout as delay } from 'node:timers/promises'
import type { System } from '../../system.ts'

/** Interval of requests to `/readyz`, in milliseconds. */
const pollMs = 100

/** A round-robin load balancer over the ready instances. Does not retry. */
export interface Balancer extends Pick<System, 'call'>, AsyncDisposable {
  /** Number of responses by status, and of broken connections. */
  readonly outcomes: Map<number | 'broken connection', number>
  /** Waits until this number of instances is ready. */
  untilReady(count: number): Promise<void>
}

/** @param origins `http://host:port` of each instance. */
export const startBalancer = (origins: string[]): Balancer => {
  let readyOrigins: string[] = []
  let turn = 0
  let stopped = false
  const outcomes: Balancer['outcomes'] = new Map()
  const count = (outcome: number | 'broken connection') =>
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)

  const isReady = (origin: string) =>
    fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
  const poll = async (origin: string) => {
    while (!stopped) {
      const ready = await isReady(origin)
      readyOrigins = [...readyOrigins.filter((each) => each !== origin), ...(ready ? [origin] : [])]
      await delay(pollMs)
    }
  }
  const polls = origins.map(poll)

  const send: System['call'] = async ({ apiKey }, method, path, body) => {
    const response = await fetch(`${readyOrigins[turn++ % readyOrigins.length]}/v2${path}`, {
      method,
      headers: { 'x-api-key': apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  return {
    outcomes,
    call: async (...request) => {
      try {
        const response = await send(...request)
        count(response.status)
        return response
      } catch (error) {
        count('broken connection')
        throw error
      }
    },
    untilReady: async (count) => {
      while (readyOrigins.length !== count) await delay(pollMs / 4)
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true
      await Promise.all(polls)
    },
  }
}
