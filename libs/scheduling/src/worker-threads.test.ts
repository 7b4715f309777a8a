import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { WorkerThreads } from './worker-threads.ts'

type Tasks = { double: (number: number) => { value: number } }

const flow = { organization: 'acme', user: 'ann' }

/** Threads that load a module which the test writes. */
const given = async () => {
  const folder = await mkdtempDisposable(join(tmpdir(), 'threads-'))
  const file = join(folder.path, 'tasks.mjs')
  const threads = new WorkerThreads<Tasks>(pathToFileURL(file), { maxThreads: 2 })
  return {
    threads,
    write: (source: string) => writeFile(file, source),
    async [Symbol.asyncDispose]() {
      await threads.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

const works = 'export const double = (number) => ({ value: 2 * number })'

describe('WorkerThreads', () => {
  it('rejects a task whose thread cannot start or ends, and starts another one for the next', async () => {
    await using givenThreads = await given()
    const { threads, write } = givenThreads
    await write('throw new Error("broken")')
    const both = [flow, { ...flow, user: 'ben' }].map((each) => threads.run('double', 1, each))
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await write('export const double = () => process.exit(1)')
    await expect(threads.run('double', 1, flow)).rejects.toThrow()
    await write(works)

    expect(await threads.run('double', 2, flow)).toBe(4)
  })

  it('loads its pool again after that has failed', async () => {
    await using givenThreads = await given()
    const { threads, write } = givenThreads
    await write(works)
    vi.doMock('piscina', () => Promise.reject(new Error('EMFILE')))
    await expect(threads.run('double', 1, flow)).rejects.toThrow()
    vi.doUnmock('piscina')

    expect(await threads.run('double', 2, flow)).toBe(4)
  })

  it('rejects what comes after its end, and what waits then', async () => {
    await using givenThreads = await given()
    const { threads, write } = givenThreads
    await write('export const double = () => new Promise((resolve) => setTimeout(resolve, 60_000))')
    const waiting = [1, 2].map((number) => threads.run('double', number, flow))
    const outcomes = Promise.allSettled(waiting)
    await threads.close()

    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(threads.run('double', 3, flow)).rejects.toThrow('The worker threads have ended')
  })
})
