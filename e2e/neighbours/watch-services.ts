import { memoryOf } from '../../bench/sides/processes.ts'
import type { System } from '../system.ts'

/** Of one service while it was watched. */
export interface Strain {
  /** Most memory at any time, in MiB. */
  peakMiB: number
  /** The longest synchronous work, in milliseconds of CPU time. */
  longestTaskMs: number
}

const sampleEveryMs = 50
const mebibyte = 2 ** 20

/** Watches the memory and the event loop of every service of the system. */
export const watchServices = async ({ processes, urls }: System) => {
  const peaks = new Map<string, number>()
  const sample = () => {
    for (const [name, { pid }] of processes)
      peaks.set(name, Math.max(peaks.get(name) ?? 0, memoryOf(pid!).rss / mebibyte))
  }
  // The metric starts anew with each scrape.
  await Promise.all(Object.values(urls).map(longestTaskMs))
  sample()
  const timer = setInterval(sample, sampleEveryMs)
  return {
    async stop(): Promise<Record<string, Strain>> {
      clearInterval(timer)
      const strains = [...peaks].map(async ([name, peakMiB]) => {
        return [name, { peakMiB, longestTaskMs: await longestTaskMs(urls[name]!) }] as const
      })
      return Object.fromEntries(await Promise.all(strains))
    },
  }
}

const longestTaskMs = async (url: string): Promise<number> => {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^event_loop_longest_task_cpu_seconds (\S+)$/m.exec(metrics)?.[1]) * 1000
}
