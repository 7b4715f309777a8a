import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Semaphore } from './semaphore.ts'

const options = { max: 2, maxWaiting: 10, maxWaitMs: 60_000 }

describe('a semaphore', () => {
  it('admits waiting calls in order, a large one before later small ones', async () => {
    const semaphore = new Semaphore(options)
    await semaphore.acquire(2)
    const admitted: string[] = []
    const wait = (name: string, units: number) => semaphore.acquire(units).then(() => admitted.push(name))
    const waiting = [wait('large', 2), wait('small', 1), wait('also small', 1)]

    semaphore.release()
    await Promise.resolve()
    expect(admitted).toEqual([])
    semaphore.release()
    await waiting[0]
    expect(admitted).toEqual(['large'])
    semaphore.release(2)
    await Promise.all(waiting)

    expect(admitted).toEqual(['large', 'small', 'also small'])
    expect(semaphore.held).toBe(2)
  })

  it('rejects a call immediately when its queue is full', async () => {
    const semaphore = new Semaphore({ ...options, maxWaiting: 1 })
    await semaphore.acquire(2)
    const waiting = semaphore.acquire()

    expect(await semaphore.acquire()).toBe(false)
    semaphore.release()
    expect(await waiting).toBe(true)
  })

  it('rejects a call after its timeout, and admits those behind it', async () => {
    const semaphore = new Semaphore({ ...options, maxWaitMs: 50 })
    await semaphore.acquire()
    const large = semaphore.acquire(2)
    await delay(25)
    const small = semaphore.acquire()

    expect(await Promise.all([large, small])).toEqual([false, true])
    expect(semaphore.held).toBe(2)
  })
})
