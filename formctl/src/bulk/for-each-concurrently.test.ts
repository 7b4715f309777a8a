import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { forEachConcurrently } from './for-each-concurrently.ts'

async function* upTo(count: number): AsyncGenerator<number> {
  for (let item = 0; item < count; item++) yield item
}

describe('forEachConcurrently', () => {
  it('runs every item once, and never more than the limit concurrently', async () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 40 }), fc.scheduler())
    const property = fc.asyncProperty(sizes, async ([limit, count, scheduler]) => {
      const done: number[] = []
      let inFlight = 0
      let most = 0
      const all = forEachConcurrently(limit, upTo(count), async (item) => {
        most = Math.max(most, ++inFlight)
        await scheduler.schedule(Promise.resolve())
        inFlight--
        done.push(item)
      })
      await scheduler.waitFor(all)

      expect(done.sort((a, b) => a - b)).toEqual(await Array.fromAsync(upTo(count)))
      expect(most).toBe(Math.min(limit, count))
    })
    await fc.assert(property)
  })

  it('starts no item after a failure, and throws it after the items in flight', async () => {
    const began: number[] = []
    const ended: number[] = []
    const release = Promise.withResolvers<void>()
    const failure = new Error('failed')

    const all = forEachConcurrently(2, upTo(10), async (item) => {
      began.push(item)
      if (item === 1) {
        release.resolve()
        throw failure
      }
      await release.promise
      ended.push(item)
    })

    await expect(all).rejects.toBe(failure)
    expect(began.length).toBeLessThan(5)
    expect(ended).toEqual(began.filter((item) => item !== 1))
  })

  it('throws the error of the iterable after the items in flight', async () => {
    let isDone = false
    async function* broken() {
      yield 1
      throw new Error('broken')
    }

    const all = forEachConcurrently(2, broken(), async () => {
      await Promise.resolve()
      isDone = true
    })

    await expect(all).rejects.toThrow('broken')
    expect(isDone).toBe(true)
  })
})
