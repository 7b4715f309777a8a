import { Gauge } from 'prom-client'

/** Between two readings of the main thread's CPU time, in milliseconds. */
const sampleMs = 10

let longestSeconds = 0
let lastUsage = process.threadCpuUsage()

/** A reading happens between two tasks only, so the CPU time since the last one covers every task in between. */
const sample = () => {
  const { user, system } = process.threadCpuUsage()
  longestSeconds = Math.max(longestSeconds, (user + system - lastUsage.user - lastUsage.system) / 1e6)
  lastUsage = { user, system }
}

new Gauge({
  name: 'event_loop_longest_task_cpu_seconds',
  help:
    'Most CPU time of the main thread between two firings of a 10 ms timer since the last scrape: ' +
    'the longest synchronous work, garbage collection included, and at most 10 ms more',
  collect() {
    sample()
    this.set(longestSeconds)
    longestSeconds = 0
  },
})

/**
 * Starts to measure the longest synchronous work of the main thread for `event_loop_longest_task_cpu_seconds`.
 * CPU time, unlike the delay of a timer, does not count the time in which other processes had the core.
 * The timer costs below 1% of a core at idle, less under load, and keeps no process alive.
 */
export const watchEventLoop = (): void => {
  lastUsage = process.threadCpuUsage()
  setInterval(sample, sampleMs).unref()
}
