import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

interface Event {
  event: 'running' | 'died' | 'stopped'
  service: string
  pid: number
}

const service = (name: string) => ({ name, args: [join(import.meta.dirname, 'testing/service.ts'), name] })
const wrapped = (name: string) => ({
  name,
  args: [
    join(import.meta.dirname, '../libs/testkit/src/run-with-parent.ts'),
    process.execPath,
    ...service(name).args,
  ],
})

describe('supervise', () => {
  it('starts a program that dies again, later each time', async () => {
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

  it('stops in the reverse order of the start, and leaves with exit code 0', async () => {
    await using supervisor = await startSupervisor([service('nats'), service('forms'), service('gateway')])
    for (const _ of [1, 2, 3]) await supervisor.next('running')

    supervisor.process.kill('SIGTERM')

    const stopped = [1, 2, 3].map(async () => (await supervisor.next('stopped')).service)
    expect(await Promise.all(stopped)).toEqual(['gateway', 'forms', 'nats'])
    expect(await once(supervisor.process, 'exit')).toEqual([0, null])
  })

  it('leaves no orphan behind when it is killed itself', async () => {
    await using supervisor = await startSupervisor([service('forms'), wrapped('nats')])
    for (const _ of [1, 2]) await supervisor.next('running')

    supervisor.process.kill('SIGKILL')

    // Every process of the tree holds its stdout, which ends with the last of them.
    await supervisor.outputEnd
  })

  it.runIf(process.platform === 'linux')('leaves no orphan when what wraps a program is killed', async () => {
    await using supervisor = await startSupervisor([wrapped('nats')])
    const first = await supervisor.next('running')

    process.kill(Number(await statusOf(first.pid, 'PPid')), 'SIGKILL')

    await supervisor.next('died')
    await supervisor.next('running')
    // Dead, whether or not somebody asked for its exit code yet.
    expect(await statusOf(first.pid, 'State')).toBeOneOf([undefined, 'Z (zombie)'])
  })
})

describe('takeDataDir', () => {
  it('refuses a second process, and names the first', async () => {
    await using first = await startSupervisor([service('forms')])
    await first.next('running')
    await using second = await startSupervisor([service('forms')], first.dataDir)

    expect(await text(second.process.stderr!)).toContain(
      `(process ${first.process.pid}) runs on ${first.dataDir}`,
    )
  })

  it('is free again after a kill', async () => {
    await using first = await startSupervisor([service('forms')])
    await first.next('running')
    first.process.kill('SIGKILL')
    await once(first.process, 'exit')

    await using second = await startSupervisor([service('forms')], first.dataDir)
    await second.next('running')
  })
})

async function startSupervisor(programs: { name: string; args: string[] }[], dataDir?: string) {
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
    const told = JSON.parse(value ?? '{}') as Event
    expect(told.event).toBe(event)
    return told
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

/** A line of /proc/{pid}/status; undefined for a process that is gone. */
async function statusOf(pid: number, field: string): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return new RegExp(`^${field}:\\s+(.+)$`, 'm').exec(status)?.[1]
}
