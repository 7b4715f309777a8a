import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** @param command a shell command that runs the engine on `$PORT` with its data in the folder `$DATA_DIR`. */
export const startDurableMongo = async (command: string): Promise<DurableMongo> => {
  const folder = mkdtempSync(join(tmpdir(), 'mongodb-'))
  const [port] = (await freePorts(1)) as [number]
  const url = `mongodb://127.0.0.1:${port}/faults`
  const env = { ...process.env, PORT: `${port}`, DATA_DIR: folder }
  const start = async () => {
    const child = spawn('sh', ['-c', `exec ${command}`], { env, stdio: 'ignore' })
    const isUp = async () => {
      if (child.exitCode !== null) throw new Error(`FAULT_MONGODB ended with ${child.exitCode}: ${command}`)
      await using client = new MongoClient(url, { serverSelectionTimeoutMS: 500 })
      return await client
        .db()
        .command({ ping: 1 })
        .then(
          () => true,
          () => false,
        )
    }
    while (!(await isUp())) await delay(50)
    return child
  }
  let child = await start()
  const kill = async () => {
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  process.once('exit', () => child.kill('SIGKILL'))
  return {
    url,
    get pid() {
      return child.pid!
    },
    killAndRestart: async () => {
      await kill()
      await delay(500)
      child = await start()
    },
    [Symbol.asyncDispose]: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
