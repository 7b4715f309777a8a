import { setTimeout as delay } from 'node:timers/promises'
import type { Setting } from '../plan.ts'
import type { Measurement } from '../report/results.ts'
import { cpuMsOf } from '../sides/processes.ts'
import type { Side } from '../sides/side.ts'
import type { LoadGenerator } from './load-generator.ts'
import type { Operation } from './requests.ts'

/** Time for the work that a load leaves behind to end, in milliseconds. */
const settleMs = 100

/**
 * Warms the side up, then measures it once.
 *
 * @throws {Error} when any request failed, since the figure would be meaningless.
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
  const run = async (seconds: number) => {
    const result = await generator.run({ ...load, seconds })
    if (result.failures > 0) throw new Error(`${result.failures} requests failed: ${about}`)
    return result
  }
  await run(warmUpSeconds)
  const before = cpuOf(side)
  const { requests, seconds: took, p50, p99 } = await run(seconds)
  const after = cpuOf(side)
  if (requests === 0) throw new Error(`no response in ${took.toFixed(1)} s; increase --seconds: ${about}`)
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
