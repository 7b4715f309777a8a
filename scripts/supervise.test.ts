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
    join(import.meta.dirname, '../libs/testkit/src/processes/run-with-parent.ts'),
    process.execPath,
    ...service(name).args,
  ],
})

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
    await using supervisor = await startSupervisor([service('forms'), wrapped('nats')])
    for (const _ of [1, 2]) await supervisor.next('running')

    supervisor.process.kill('SIGKILL')

    // All processes of the tree share its stdout, which ends with the last of them.
    await supervisor.outputEnd
  })

  it.runIf(process.platform === 'linux')(
    'leaves no orphan when the wrapper of a program is killed',
    async () => {
      await using supervisor = await startSupervisor([wrapped('nats')])
      const first = await supervisor.next('running')

      process.kill(Number(await statusOf(first.pid, 'PPid')), 'SIGKILL')

      await supervisor.next('died')
      await supervisor.next('running')
      // A zombie is dead, too: its exit code has not been read yet.
      expect(await statusOf(first.pid, 'State')).toBeOneOf([undefined, 'Z (zombie)'])
    },
  )
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

/** A field of /proc/{pid}/status; undefined if the process does not exist. */
async function statusOf(pid: number, field: string): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return new RegExp(`^${field}:\\s+(.+)$`, 'm').exec(status)?.[1]
}
