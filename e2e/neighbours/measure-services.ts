import { memoryOf } from '../../bench/sides/processes.ts'
import type { System } from '../system.ts'

/** What one service used during a measurement. */
export interface ServiceUsage {
  /** Peak RSS in MiB. */
  peakMiB: number
  /** The longest synchronous task, in milliseconds of CPU time. */
  longestTaskMs: number
}

const sampleEveryMs = 50
const mebibyte = 2 ** 20

/** Starts measuring the memory and the event loop of every service. `stop` returns the usage by service name. */
export const measureServices = async ({ processes, urls }: System) => {
  const peaks = new Map<string, number>()
  const sample = () => {
    for (const [name, { pid }] of processes)
      peaks.set(name, Math.max(peaks.get(name) ?? 0, memoryOf(pid!).rss / mebibyte))
  }
  // Each scrape resets the metric.
  await Promise.all(Object.values(urls).map(longestTaskMs))
  sample()
  const timer = setInterval(sample, sampleEveryMs)
  return {
    async stop(): Promise<Record<string, ServiceUsage>> {
      clearInterval(timer)
      const usages = [...peaks].map(async ([name, peakMiB]) => {
        return [name, { peakMiB, longestTaskMs: await longestTaskMs(urls[name]!) }] as const
      })
      return Object.fromEntries(await Promise.all(usages))
    },
  }
}

const longestTaskMs = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const [, seconds] = /^event_loop_longest_task_cpu_seconds (\S+)$/m.exec(metrics) ?? []
  if (seconds === undefined) throw new Error(`${url} does not measure its longest task`)
  return Number(seconds) * 1000
}
