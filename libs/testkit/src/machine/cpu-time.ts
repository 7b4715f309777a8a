/** CPU time of this thread in milliseconds. It is independent of other processes, but not of the speed of the machine. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** CPU time of this thread for the longest task of the event loop during `work`, the least of three runs. */
export const longestTaskMs = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    let last = cpuMs()
    let longest = 0
    const sample = () => {
      const now = cpuMs()
      longest = Math.max(longest, now - last)
      last = now
    }
    const timer = setInterval(sample, 1)
    await work()
    sample()
    clearInterval(timer)
    times.push(longest)
  }
  return Math.min(...times)
}

const leastCpuMs = (work: () => void): number => {
  const times = [1, 2, 3].map(() => {
    const started = cpuMs()
    work()
    return cpuMs() - started
  })
  return Math.min(...times)
}

/**
 * How much more CPU time an input of `size` takes than 32 inputs of a 32nd of it: about 1 if `work` is linear in time,
 * and 32 if it is quadratic. The machine has no influence. A millisecond more for each, since some work takes no time.
 */
export const costOfSize = (size: number, work: (size: number) => void): number => {
  const parts = 32
  const small = leastCpuMs(() => {
    for (let part = 0; part < parts; part++) work(size / parts)
  })
  return (leastCpuMs(() => work(size)) + 1) / (small + 1)
}
