import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { FairQueue } from './fair-queue.ts'

/** Tasks that the test ends, and the order in which they started. */
const givenQueue = (options: Partial<ConstructorParameters<typeof FairQueue>[0]> = {}) => {
  const queue = new FairQueue({ concurrency: 1, maxPerKey: 100, maxTasks: 100, ...options })
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string) =>
    queue.run(name[0]!, () => {
      started.push(name)
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string) => {
    ends.get(name)!()
    await setImmediate()
  }
  return { queue, started, run, end }
}

describe('FairQueue', () => {
  it('serves keys round-robin, however many tasks one of them has', async () => {
    const { run, started, end } = givenQueue()
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) void run(name)

    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name)

    expect(started).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('runs one task per key at a time, up to the concurrency in total', async () => {
    const { run, started, end } = givenQueue({ concurrency: 2 })
    for (const name of ['a1', 'a2', 'b1', 'c1']) void run(name)
    expect(started).toEqual(['a1', 'b1'])

    await end('b1')
    expect(started).toEqual(['a1', 'b1', 'c1'])
    await end('c1')
    expect(started).toEqual(['a1', 'b1', 'c1'])
    await end('a1')
    expect(started).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  it('returns the result or error of a task, and continues', async () => {
    const { queue } = givenQueue()

    await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await queue.run('a', async () => 1)).toBe(1)
  })

  it('rejects a task over the bound of its key, and accepts those of another key', async () => {
    const { run, end } = givenQueue({ maxPerKey: 2 })
    void run('a1')
    void run('a2')

    expect(() => run('a3')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
    void run('b1')
    await end('a1')
    void run('a4')
  })

  it('rejects a task over the total bound', () => {
    const { run } = givenQueue({ maxTasks: 2 })
    void run('a1')
    void run('b1')

    expect(() => run('c1')).toThrow(expect.objectContaining({ reason: 'OVERLOADED' }))
  })

  it('releases the memory of finished tasks while others of the key wait', async () => {
    const { queue } = givenQueue()
    const inputs: WeakRef<object>[] = []
    const runWithInput = () => {
      const input = { bytes: new Uint8Array(1024) }
      inputs.push(new WeakRef(input))
      return queue.run('a', async () => input.bytes.length)
    }
    const finished = Array.from({ length: 50 }, runWithInput)
    const { promise: end, resolve } = Promise.withResolvers<void>()
    const last = [queue.run('a', () => end), queue.run('a', () => end)]
    await Promise.all(finished)

    await collectGarbage()

    expect(inputs.filter((input) => input.deref() !== undefined)).toEqual([])
    resolve()
    await Promise.all(last)
  })
})

const collectGarbage = async () => {
  setFlagsFromString('--expose-gc')
  // A WeakRef keeps its target until the end of the turn in which it was created.
  await setImmediate()
  runInNewContext('gc')()
}
