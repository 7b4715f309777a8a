import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TurnQueue } from './turn-queue.ts'

const flowOf = (name: string) => ({ organization: name[0]!, user: name })

/** A queue of the names of users; the first letter is the organization. */
const queueOf = (...names: string[]) => {
  const queue = new TurnQueue<string>()
  for (const name of names) queue.add(flowOf(name), name)
  return queue
}

const takeAll = (queue: TurnQueue<string>) => Array.from({ length: queue.size }, () => queue.take())

describe('TurnQueue', () => {
  it('takes turns over organizations, and within each over its users', () => {
    const queue = queueOf('a1', 'a1', 'a1', 'a2', 'b1', 'b1', 'c1')

    expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b1', 'a1', 'a1'])
    expect(queue.take()).toBeUndefined()
  })

  it('keeps the order of one user', () => {
    const queue = new TurnQueue<number>()
    for (let number = 0; number < 5; number++) queue.add(flowOf('a1'), number)

    expect(Array.from({ length: 5 }, () => queue.take())).toEqual([0, 1, 2, 3, 4])
  })

  it('takes a newcomer next, but nobody who has been served in this round', () => {
    const queue = queueOf('a1', 'a1', 'a1', 'b1', 'b1')
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['a1', 'b1', 'a1'])

    queue.add(flowOf('c1'), 'c1')
    expect(queue.take()).toBe('c1')
    queue.add(flowOf('c1'), 'c1')
    expect([queue.take(), queue.take(), queue.take()]).toEqual(['b1', 'a1', 'c1'])
  })

  it('skips organizations without changing their turn', () => {
    const queue = queueOf('a1', 'b1')

    expect(queue.take(new Set(['a', 'b']))).toBeUndefined()
    expect(queue.take(new Set(['a']))).toBe('b1')
    expect(queue.take()).toBe('a1')
  })

  it('loses nothing, repeats nothing and starves nobody, whatever arrives', () => {
    const name = fc.constantFrom('a1', 'a2', 'b1', 'c1', 'd1')
    const step = fc.oneof(name, fc.constant('take' as const))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new TurnQueue<string>()
        const left: string[] = []
        // How often others were taken while an organization waited.
        const passed = new Map<string, number>()
        const take = () => {
          const taken = queue.take()
          if (taken === undefined) return expect(left).toEqual([])
          const index = left.indexOf(taken)
          expect(index).toBeGreaterThanOrEqual(0)
          left.splice(index, 1)
          passed.delete(taken[0]!)
          for (const [organization] of new Set(left))
            if (organization !== taken[0]) passed.set(organization!, (passed.get(organization!) ?? 0) + 1)
          // Of the three others, each may be a newcomer once, and have a turn before.
          expect(Math.max(0, ...passed.values())).toBeLessThanOrEqual(6)
        }
        for (const each of steps) {
          if (each === 'take') {
            take()
          } else {
            queue.add(flowOf(each), each)
            left.push(each)
          }
          expect(queue.size).toBe(left.length)
        }
        while (left.length > 0) take()
        take()
      }),
      { numRuns: 1_000 },
    )
  })
})
