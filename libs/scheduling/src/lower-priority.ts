import os from 'node:os'
import { isMainThread } from 'node:worker_threads'

/** Where cores are short, a thread gets a third of the CPU time of an event loop that it shares one with. */
const niceIncrement = 5

/**
 * Gives a worker thread a lower priority than that of event loops. Only on Linux, where threads have priorities of their own;
 * where a sandbox forbids it, the thread keeps its priority.
 */
export const lowerPriority = (): void => {
  if (isMainThread || process.platform !== 'linux') return
  try {
    os.setPriority(Math.min(os.getPriority() + niceIncrement, 19))
  } catch {
    // A sandbox forbids it.
  }
}
