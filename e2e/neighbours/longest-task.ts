/**
 * Preloaded into services (`node --import`): adds `event_loop_longest_task_cpu_seconds` to their metrics, the most CPU
 * time of the main thread between two firings of a 10 ms timer since the last scrape. Timers fire between tasks, so this
 * is the longest synchronous work, garbage collection included, and at most 10 ms more. Unlike the delay of a timer, it
 * excludes other processes on the core.
 */
import { isMainThread } from 'node:worker_threads'

const sampleMs = 10

const measure = async () => {
  const { Gauge } = await import('@fms/service-kit')
  let longestSeconds = 0
  let last = process.threadCpuUsage()
  const sample = () => {
    const now = process.threadCpuUsage()
    longestSeconds = Math.max(longestSeconds, (now.user + now.system - last.user - last.system) / 1e6)
    last = now
  }
  setInterval(sample, sampleMs).unref()
  new Gauge({
    name: 'event_loop_longest_task_cpu_seconds',
    help: 'CPU time of the longest synchronous task of the main thread since the last scrape',
    collect() {
      sample()
      this.set(longestSeconds)
      longestSeconds = 0
    },
  })
}

if (isMainThread) await measure()
