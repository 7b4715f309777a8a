import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { Program } from '@fms/testkit/processes'
import { describe, expect, it } from 'vitest'

interface Event {
  event: 'running' | 'died' | 'stopped'
  service: string
  pid: number
}

const service = (name: string) => ({ name, args: [join(import.meta.dirname, 'testing/service.ts'), name] })
/** A program other than Node. Only on Linux does it end with a supervisor that is killed. */
const other = (name: string) => ({ command: process.execPath, ...service(name) })

describe('supervise', () => {
  it('restarts a program that dies, with a longer delay each time', async () => {
    await using supervisor = await startSupervisor([service('forms')])

    for (const restartInMs of [200, 400]) {
      process.kill((await supervisor.next('running')).pid, 'SIGKILL')
      expect(await supervisor.next('died')).toMatchObject({
        program: 'forms',
        signal: 'SIGKILL',
        restart_in_ms: restartInMs,
      })
    }
    await supervisor.next('running')
  })

  it('stops programs in the reverse order of their start, and exits with 0', async () => {
    await using supervisor = await startSupervisor([service('nats'), service('forms'), service('gateway')])
    for (const _ of [1, 2, 3]) await supervisor.next('running')

    supervisor.process.kill('SIGTERM')

    const stopped = [1, 2, 3].map(async () => (await supervisor.next('stopped')).service)
    expect(await Promise.all(stopped)).toEqual(['gateway', 'forms', 'nats'])
    expect(await once(supervisor.process, 'exit')).toEqual([0, null])
  })

  it('leaves no orphans when it is killed', async () => {
    const nats = process.platform === 'linux' ? other('nats') : service('nats')
    await using supervisor = await startSupervisor([service('forms'), nats])
    for (const _ of [1, 2]) await supervisor.next('running')

    supervisor.process.kill('SIGKILL')

    // All processes of the tree share its stdout, which ends with the last of them.
    await supervisor.outputEnd
  })
})

describe('lockDataDir', () => {
  it('rejects a second process, and names the first', async () => {
    await using first = await startSupervisor([service('forms')])
    await first.next('running')
    await using second = await startSupervisor([service('forms')], first.dataDir)

    expect(await text(second.process.stderr!)).toContain(
      `(process ${first.process.pid}) runs on ${first.dataDir}`,
    )
  })

  it('releases the lock when its process is killed', async () => {
    await using first = await startSupervisor([service('forms')])
    await first.next('running')
    first.process.kill('SIGKILL')
    await once(first.process, 'exit')

    await using second = await startSupervisor([service('forms')], first.dataDir)
    await second.next('running')
  })
})

async function startSupervisor(programs: Program[], dataDir?: string) {
  const folder = await mkdtempDisposable(join(tmpdir(), 'supervise-'))
  const options = { dataDir: dataDir ?? folder.path, programs }
  const supervisor: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, 'testing/supervisor.ts'), JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const outputEnd = once(supervisor.stdout!, 'end')
  const lines = createInterface(supervisor.stdout!)[Symbol.asyncIterator]()
  const next = async (event: Event['event']) => {
    const { value } = await lines.next()
    const line = JSON.parse(value ?? '{}') as Event
    expect(line.event).toBe(event)
    return line
  }
  return {
    process: supervisor,
    dataDir: options.dataDir,
    next,
    outputEnd,
    async [Symbol.asyncDispose]() {
      supervisor.kill('SIGKILL')
      await outputEnd
      await folder.remove()
    },
  }
}
