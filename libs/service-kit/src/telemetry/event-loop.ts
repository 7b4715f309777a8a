import { Gauge } from 'prom-client'

/** The interval at which the CPU time of the main thread is read, in milliseconds. */
const sampleMs = 10

let longestSeconds = 0
let lastUsage = process.threadCpuUsage()

/** Timers fire between tasks, so the CPU time since the last sample covers whole tasks. */
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
 * Starts measuring the longest synchronous task of the main thread for `event_loop_longest_task_cpu_seconds`. CPU time,
 * unlike the delay of a timer, excludes the time in which other processes used the core. The timer uses less than 1% of a
 * core at idle, less under load, and does not keep the process alive.
 */
export const watchEventLoop = (): void => {
  lastUsage = process.threadCpuUsage()
  setInterval(sample, sampleMs).unref()
}
