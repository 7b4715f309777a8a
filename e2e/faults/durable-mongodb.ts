import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '@fms/testkit/ports'
import { MongoClient } from 'mongodb'

/** A MongoDB that keeps acknowledged writes when it is killed. */
export interface DurableMongo extends AsyncDisposable {
  url: string
  readonly pid: number
  /** Kills the engine with SIGKILL, and restarts it half a second later on the same data and port. */
  killAndRestart(): Promise<void>
}

const startTimeoutMs = 30_000

/** Prints the id of the engine's process, and kills it when standard input ends, which it does with this process. */
const runUntilInputEnds = (command: string) =>
  `(exec ${command} >/dev/null 2>&1) & echo $!; read -r _; kill -9 $!; wait $!`

/** @param command a shell command that runs the engine on `$PORT` with its data in the folder `$DATA_DIR`. */
export const startDurableMongo = async (command: string): Promise<DurableMongo> => {
  const folder = mkdtempSync(join(tmpdir(), 'mongodb-'))
  const [port] = (await freePorts(1)) as [number]
  const url = `mongodb://127.0.0.1:${port}/faults`
  const env = { ...process.env, PORT: `${port}`, DATA_DIR: folder }
  const start = async () => {
    const shell = spawn('sh', ['-c', runUntilInputEnds(command)], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    const [pid] = await once(createInterface(shell.stdout), 'line')
    const kill = async () => {
      const exited = once(shell, 'exit')
      shell.stdin.end()
      await exited
    }
    const deadline = performance.now() + startTimeoutMs
    while (!(await isUp(url))) {
      if (performance.now() > deadline) {
        await kill()
        throw new Error(`MongoDB does not respond ${startTimeoutMs} ms after its start: ${command}`)
      }
      await delay(50)
    }
    return { pid: Number(pid), kill }
  }
  let engine = await start()
  return {
    url,
    get pid() {
      return engine.pid
    },
    killAndRestart: async () => {
      await engine.kill()
      await delay(500)
      engine = await start()
    },
    [Symbol.asyncDispose]: async () => {
      await engine.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const isUp = async (url: string): Promise<boolean> => {
  await using client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
  try {
    await client.db().command({ ping: 1 })
    return true
  } catch {
    return false
  }
}
