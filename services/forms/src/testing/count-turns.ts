/** Counts the iterations of the event loop, until it is disposed. */
export const countTurns = () => {
  let count = 0
  const next = () => {
    count++
    immediate = setImmediate(next)
  }
  let immediate = setImmediate(next)
  return {
    /** The number of the current turn. */
    now: () => count,
    [Symbol.dispose]: () => clearImmediate(immediate),
  }
}
