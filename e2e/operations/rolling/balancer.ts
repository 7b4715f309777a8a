import { setTimeout as delay } from 'node:timers/promises'
import type { System } from '../../system.ts'

/** How often `/readyz` is asked, in milliseconds. */
const pollMs = 100

/** Sends each request to the next of those instances whose `/readyz` says yes, and each once alone. */
export interface Balancer extends Pick<System, 'call'>, AsyncDisposable {
  /** How many answers came with each status; those under `gone` did not come. */
  readonly outcomes: Map<number | 'gone', number>
  /** Resolves once as many instances are in. */
  has(count: number): Promise<void>
}

/** @param origins `http://host:port` of each instance. */
export const startBalancer = (origins: string[]): Balancer => {
  let members: string[] = []
  let turn = 0
  let stopped = false
  const outcomes: Balancer['outcomes'] = new Map()
  const count = (outcome: number | 'gone') => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)

  const isReady = (origin: string) =>
    fetch(`${origin}/readyz`, { signal: AbortSignal.timeout(1_000) }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.ok
      },
      () => false,
    )
  const poll = async (origin: string) => {
    while (!stopped) {
      const ready = await isReady(origin)
      members = [...members.filter((member) => member !== origin), ...(ready ? [origin] : [])]
      await delay(pollMs)
    }
  }
  const polls = origins.map(poll)

  const send: System['call'] = async ({ apiKey }, method, path, body) => {
    const response = await fetch(`${members[turn++ % members.length]}/v2${path}`, {
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
        const answer = await send(...request)
        count(answer.status)
        return answer
      } catch (error) {
        count('gone')
        throw error
      }
    },
    has: async (count) => {
      while (members.length !== count) await delay(pollMs / 4)
    },
    [Symbol.asyncDispose]: async () => {
      stopped = true
      await Promise.all(polls)
    },
  }
}
