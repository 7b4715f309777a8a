import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Semaphore } from './semaphore.ts'

const patient = { max: 2, maxWaiting: 10, maxWaitMs: 60_000 }

describe('a semaphore', () => {
  it('admits waiting ones in their order, a large one before the small ones behind it', async () => {
    const semaphore = new Semaphore(patient)
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

  it('refuses at once what finds its queue full', async () => {
    const semaphore = new Semaphore({ ...patient, maxWaiting: 1 })
    await semaphore.acquire(2)
    const waiting = semaphore.acquire()

    expect(await semaphore.acquire()).toBe(false)
    semaphore.release()
    expect(await waiting).toBe(true)
  })

  it('gives up on what waits for too long, and lets those behind it through', async () => {
    const semaphore = new Semaphore({ ...patient, maxWaitMs: 50 })
    await semaphore.acquire()
    const large = semaphore.acquire(2)
    await delay(25)
    const small = semaphore.acquire()

    expect(await Promise.all([large, small])).toEqual([false, true])
    expect(semaphore.held).toBe(2)
  })
})
