import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { MemoryBudget } from './memory-budget.ts'

const flowOf = (organization: string, user = organization) => ({ organization, user })

/** A budget whose reservations release when they are evicted, and the names of those that were. */
const givenBudget = (bytes: number, minBytes?: number) => {
  const budget = new MemoryBudget('requests', bytes, minBytes)
  const evicted: string[] = []
  const reserve = async (name: string, bytes: number) => {
    const release = await budget.reserve(flowOf(name[0]!), bytes, () => {
      evicted.push(name)
      release?.()
    })
    return release
  }
  return { budget, evicted, reserve }
}

/** Whether a promise settles before an iteration of the event loop. */
const settled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), setImmediate(false)])

describe('MemoryBudget', () => {
  it('lets an organization hold an eighth, a user half of it, or the given minimum, and others the rest', async () => {
    const { budget, reserve } = givenBudget(80)
    await reserve('a1', 3)
    let isHeld = false
    const waiting = reserve('a2', 3).then((release) => {
      isHeld = true
      return release
    })

    expect(budget.tryReserve(flowOf('a', 'colleague'), 5, () => {})).toBeDefined()
    expect(budget.tryReserve(flowOf('a', 'another'), 3, () => {})).toBeUndefined()
    expect(await reserve('b1', 5)).toBeDefined()
    expect([isHeld, budget.held]).toEqual([false, 13])
    expect(await waiting).toBeUndefined()
    expect(await givenBudget(80, 20).reserve('a1', 20)).toBeDefined()
  })

  it('counts what is longer than the share of a user as all of it', async () => {
    const { budget, reserve } = givenBudget(80)

    const release = await reserve('a1', 50)

    expect(budget.held).toBe(5)
    release!()
    release!()
    expect(budget.held).toBe(0)
  })

  it('ends nothing for a user who holds its share', async () => {
    const { budget, reserve } = givenBudget(80)
    let isEvicted = false
    const evict = () => {
      isEvicted = true
    }
    for (const user of ['b', 'colleague']) budget.tryReserve(flowOf('b', user), 5, evict)
    await reserve('a1', 4)

    expect(await reserve('a2', 2)).toBeUndefined()

    expect(isEvicted).toBe(false)
  })

  it('ends the oldest reservation of the organization that holds the most for one that waits', async () => {
    const { budget, evicted, reserve } = givenBudget(30, 20)
    for (const [name, bytes] of [
      ['b1', 9],
      ['a1', 7],
      ['a2', 7],
      ['c1', 7],
    ] as const)
      await reserve(name, bytes)

    expect(await reserve('d1', 5)).toBeDefined()

    expect(evicted).toEqual(['a1'])
    expect(budget.held).toBe(28)
  })

  it('ends the next oldest reservation when the oldest is needed', async () => {
    const { budget, evicted, reserve } = givenBudget(22, 20)
    budget.tryReserve(flowOf('a'), 8, () => false)
    await reserve('a2', 6)
    await reserve('b1', 8)

    expect(await reserve('c1', 4)).toBeDefined()

    expect(evicted).toEqual(['a2'])
    expect(budget.held).toBe(20)
  })

  it('ends the oldest reservation of the next organization when all of the largest are needed', async () => {
    const { budget, evicted, reserve } = givenBudget(22, 20)
    budget.tryReserve(flowOf('a'), 12, () => false)
    await reserve('b1', 10)

    expect(await reserve('c1', 4)).toBeDefined()

    expect(evicted).toEqual(['b1'])
  })

  it('ends nothing of those who hold no more than the one that waits would', async () => {
    const { evicted, reserve } = givenBudget(20, 10)
    await reserve('a1', 10)
    await reserve('b1', 10)

    expect(await reserve('c1', 10)).toBeUndefined()

    expect(evicted).toEqual([])
  })

  it('holds bytes at once if they are free, and tells whose wait', async () => {
    const { budget, reserve } = givenBudget(80)
    const release = budget.tryReserve(flowOf('a'), 10, () => {})
    expect(budget.tryReserve(flowOf('a'), 1, () => {})).toBeUndefined()
    const waiting = reserve('a', 10)
    expect([budget.hasWaiting(flowOf('a')), budget.hasWaiting(flowOf('b'))]).toEqual([true, false])

    release!()

    expect(await waiting).toBeDefined()
    expect(budget.hasWaiting(flowOf('a'))).toBe(false)
  })

  it('forgets callers who disconnect while they wait, or before', async () => {
    const { budget, reserve } = givenBudget(80)
    await reserve('a', 10)
    const reply = { hasEnded: false, elapsedTime: 0, onDisconnect: undefined as (() => void) | undefined }
    const waiting = budget.reserve(flowOf('a'), 10, () => {}, reply)

    reply.onDisconnect!()

    expect(await waiting).toBeUndefined()
    expect(reply.onDisconnect).toBeUndefined()
    reply.hasEnded = true
    expect(await settled(budget.reserve(flowOf('a'), 10, () => {}, reply))).toBe(true)
  })
})
