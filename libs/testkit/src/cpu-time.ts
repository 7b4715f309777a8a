/** CPU time of this thread in milliseconds. It is independent of other processes, but not of the speed of the machine. */
const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The least CPU time, in milliseconds, that this thread spends on one of three runs of `work`. */
export const cpuMsOf = async (work: () => unknown): Promise<number> => {
  const times: number[] = []
  for (let run = 0; run < 3; run++) {
    const started = cpuMs()
    await work()
    times.push(cpuMs() - started)
  }
  return Math.min(...times)
}

/**
 * How much more CPU time an input of `size` takes than 32 inputs of a 32nd of it: about 1 if `work` is linear in time,
 * and 32 if it is quadratic. The machine has no influence. A millisecond more for each, since some work takes no time.
 */
export const costOfSize = async (size: number, work: (size: number) => unknown): Promise<number> => {
  const parts = 32
  const small = await cpuMsOf(() => {
    for (let part = 0; part < parts; part++) work(size / parts)
  })
  return ((await cpuMsOf(() => work(size))) + 1) / (small + 1)
}
