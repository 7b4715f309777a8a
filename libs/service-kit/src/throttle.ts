/** Calls `work` now, and where it is called again within `pauseMs`, once more after that. */
export const throttle = (work: () => void, pauseMs: number): (() => void) => {
  let isPausing = false
  let isDue = false
  const call = () => {
    isDue = isPausing
    if (isPausing) return
    work()
    isPausing = true
    setTimeout(() => {
      isPausing = false
      if (isDue) call()
    }, pauseMs).unref()
  }
  return call
}
