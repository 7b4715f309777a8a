import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

const flowOf = (organization: string) => ({ organization, user: organization })

/** A budget whose holdings release when they are evicted, and the names of those that were. */
const givenBudget = (bytes: number, minBytes?: number) => {
  const budget = new ByteBudget('requests', bytes, minBytes)
  const evicted: string[] = []
  const hold = async (name: string, bytes: number) => {
    const release = await budget.hold(flowOf(name[0]!), bytes, () => {
      evicted.push(name)
      release?.()
    })
    return release
  }
  return { budget, evicted, hold }
}

/** Whether a promise settles before a turn of the event loop. */
const settled = (promise: Promise<unknown>) => Promise.race([promise.then(() => true), setImmediate(false)])

describe('ByteBudget', () => {
  it('lets an organization hold an eighth, or the given minimum, and others the rest', async () => {
    const { budget, hold } = givenBudget(80)
    await hold('a1', 6)
    let isHeld = false
    const waiting = hold('a2', 6).then((release) => {
      isHeld = true
      return release
    })

    expect(await hold('b1', 10)).toBeDefined()
    expect([isHeld, budget.held]).toEqual([false, 16])
    expect(await waiting).toBeUndefined()
    expect(await givenBudget(80, 20).hold('a1', 20)).toBeDefined()
  })

  it('counts what is longer than the share of an organization as all of it', async () => {
    const { budget, hold } = givenBudget(80)

    const release = await hold('a1', 50)

    expect(budget.held).toBe(10)
    release!()
    release!()
    expect(budget.held).toBe(0)
  })

  it('ends the oldest holding of the organization that holds the most for one that waits', async () => {
    const { budget, evicted, hold } = givenBudget(30, 20)
    for (const [name, bytes] of [
      ['b1', 9],
      ['a1', 7],
      ['a2', 7],
      ['c1', 7],
    ] as const)
      await hold(name, bytes)

    expect(await hold('d1', 5)).toBeDefined()

    expect(evicted).toEqual(['a1'])
    expect(budget.held).toBe(28)
  })

  it('ends the next oldest holding when the oldest is needed', async () => {
    const { budget, evicted, hold } = givenBudget(22, 20)
    budget.tryHold(flowOf('a'), 8, () => false)
    await hold('a2', 6)
    await hold('b1', 8)

    expect(await hold('c1', 4)).toBeDefined()

    expect(evicted).toEqual(['a2'])
    expect(budget.held).toBe(20)
  })

  it('ends the oldest holding of the next organization when all of the largest are needed', async () => {
    const { budget, evicted, hold } = givenBudget(22, 20)
    budget.tryHold(flowOf('a'), 12, () => false)
    await hold('b1', 10)

    expect(await hold('c1', 4)).toBeDefined()

    expect(evicted).toEqual(['b1'])
  })

  it('ends nothing of those who hold no more than the one that waits would', async () => {
    const { evicted, hold } = givenBudget(20, 10)
    await hold('a1', 10)
    await hold('b1', 10)

    expect(await hold('c1', 10)).toBeUndefined()

    expect(evicted).toEqual([])
  })

  it('holds bytes at once if they are free, and tells whose wait', async () => {
    const { budget, hold } = givenBudget(80)
    const release = budget.tryHold(flowOf('a'), 10, () => {})
    expect(budget.tryHold(flowOf('a'), 1, () => {})).toBeUndefined()
    const waiting = hold('a', 10)
    expect([budget.isAwaitedBy(flowOf('a')), budget.isAwaitedBy(flowOf('b'))]).toEqual([true, false])

    release!()

    expect(await waiting).toBeDefined()
    expect(budget.isAwaitedBy(flowOf('a'))).toBe(false)
  })

  it('forgets callers who disconnect while they wait, or before', async () => {
    const { budget, hold } = givenBudget(80)
    await hold('a', 10)
    const reply = { hasEnded: false, elapsedTime: 0, onDisconnect: undefined as (() => void) | undefined }
    const waiting = budget.hold(flowOf('a'), 10, () => {}, reply)

    reply.onDisconnect!()

    expect(await waiting).toBeUndefined()
    expect(reply.onDisconnect).toBeUndefined()
    reply.hasEnded = true
    expect(await settled(budget.hold(flowOf('a'), 10, () => {}, reply))).toBe(true)
  })
})
