import { setTimeout as delay } from 'node:timers/promises'
import type { LoadGenerator } from './load.ts'
import type { Setting } from './plan.ts'
import { cpuMsOf } from './processes.ts'
import type { Operation } from './requests.ts'
import type { Measurement } from './results.ts'
import type { Side } from './side.ts'

/** What a load leaves behind has ended by then, in milliseconds. */
const settleMs = 100

/**
 * Warms the side up, then measures it once.
 *
 * @throws {Error} when any request failed: a figure with errors in it says nothing.
 */
export const measure = async (
  generator: LoadGenerator,
  side: Side,
  operation: Operation,
  { forms, connections, seconds }: Setting,
  warmUpSeconds: number,
  round: number,
): Promise<Measurement> => {
  const load = side.load(operation, connections)
  const about = `${operation} on ${side.name}, ${forms} forms, ${connections} connections`
  const shoot = async (seconds: number) => {
    const result = await generator.run({ ...load, seconds })
    if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${about}`)
    return result
  }
  await shoot(warmUpSeconds)
  const before = cpuOf(side)
  const { requests, seconds: took, p50, p99 } = await shoot(seconds)
  const after = cpuOf(side)
  if (requests === 0)
    throw new Error(`no answer in ${took.toFixed(1)} s, a longer --seconds may help: ${about}`)
  await delay(settleMs)

  const cpu = Object.entries(after).map(([name, ms]) => [name, (ms - before[name]!) / requests] as const)
  return {
    side: side.name,
    operation,
    forms,
    connections,
    round,
    requests,
    perSecond: requests / took,
    p50,
    p99,
    cpuMs: cpu.reduce((sum, [, ms]) => sum + ms, 0),
    cpuMsOf: Object.fromEntries(cpu),
  }
}

const cpuOf = (side: Side): Record<string, number> =>
  Object.fromEntries(Object.entries(side.pids()).map(([name, pids]) => [name, cpuMsOf(pids)]))
