import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { installSecantusDb, secantusVersion } from '@fms/testkit/mongodb/install-secantusdb'
import { freePorts } from '@fms/testkit/ports'
import { spawnWithParent, terminate } from '@fms/testkit/processes'
import { MongoClient } from 'mongodb'

const startTimeoutMs = 60_000

/** An engine that enforces users and roles, as MongoDB in the container does. */
export interface MongoWithUsers extends AsyncDisposable {
  /** Name and version. */
  engine: string
  /** `127.0.0.1:port` */
  host: string
}

/**
 * Starts SecantusDB from PyPI, which implements MongoDB's protocol, SCRAM users and the built-in roles. The first start
 * is without authentication and creates the root user, as the image of MongoDB does; the second one requires passwords.
 *
 * @throws {Error} when Python 3 with venv and pip is missing, or PyPI cannot be reached.
 */
export const startMongoWithUsers = async (root: {
  user: string
  password: string
}): Promise<MongoWithUsers> => {
  const python = await installSecantusDb(process.env)
  const folder = mkdtempSync(join(tmpdir(), 'secantusdb-'))
  const [port] = await freePorts(1)
  const host = `127.0.0.1:${port}`

  const first = await start(python, port!, folder, [])
  await using client = new MongoClient(`mongodb://${host}/?directConnection=true`)
  await client.db('admin').command({ createUser: root.user, pwd: root.password, roles: ['root'] })
  await client.close()
  await terminate(first)

  const server = await start(python, port!, folder, ['--auth'])
  return {
    engine: `SecantusDB ${secantusVersion()}`,
    host,
    [Symbol.asyncDispose]: async () => {
      await terminate(server)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const start = async (
  python: string,
  port: number,
  folder: string,
  options: string[],
): Promise<ChildProcess> => {
  const address = ['--host', '127.0.0.1', '--port', `${port}`]
  const program = ['-m', 'secantus', ...address, '--storage-path', folder, '--log-level', 'ERROR']
  const child = spawnWithParent({
    name: 'secantusdb',
    command: python,
    args: [...program, ...options],
    env: { PATH: process.env.PATH },
  })
  const deadline = performance.now() + startTimeoutMs
  while (!(await isUp(port))) {
    if (child.exitCode !== null) throw new Error(`SecantusDB ended with ${child.exitCode}`)
    if (performance.now() > deadline) throw new Error(`SecantusDB is not up after ${startTimeoutMs} ms`)
    await delay(100)
  }
  return child
}

/** `hello` needs no authentication. */
const isUp = async (port: number): Promise<boolean> => {
  const url = `mongodb://127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=500`
  await using client = new MongoClient(url)
  return await client
    .db('admin')
    .command({ hello: 1 })
    .then(
      () => true,
      () => false,
    )
}
