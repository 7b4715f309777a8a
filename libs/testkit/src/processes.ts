import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A program that runs until its supervisor ends. */
export interface Program {
  name: string
  /** Default: Node. */
  command?: string
  args: string[]
  env?: NodeJS.ProcessEnv
}

/** A program that serves HTTP. */
export interface Service extends Program {
  /** `http://host:port`, reachable from this machine. */
  url: string
}

/** Longer than `DRAIN_MS` and the nine seconds in which a service closes after it. Milliseconds. */
const killAfterMs = 20_000

/**
 * Spawns a program that ends with this process, even after `kill -9`: Node when its channel closes, others by the kernel
 * where there is setpriv (util-linux). The program leads its own process group, so that Ctrl-C reaches only the supervisor.
 *
 * @param output where its output goes; a number is a file descriptor.
 */
export function spawnWithParent(
  { command, args, env }: Program,
  output: 'inherit' | 'pipe' | number = 'inherit',
): ChildProcess {
  const options = { env, detached: true }
  if (!command) {
    const exitWithParent = join(import.meta.dirname, 'exit-with-parent.ts')
    const stdio = ['ignore' as const, output, output, 'ipc' as const]
    return spawn(process.execPath, ['--import', exitWithParent, ...args], { ...options, stdio })
  }
  const [file, ...rest] = [...deathSignal(), command, ...args] as [string, ...string[]]
  return spawn(file, rest, { ...options, stdio: ['ignore', output, output] })
}

let knownDeathSignal: string[] | undefined

/** The command by which the kernel kills a program when its parent ends; none where there is no setpriv. */
const deathSignal = (): string[] => {
  const command = ['setpriv', '--pdeathsig', 'KILL']
  knownDeathSignal ??= spawnSync(command[0]!, [...command.slice(1), 'true']).status === 0 ? command : []
  return knownDeathSignal
}

/** Sends SIGTERM, and SIGKILL to the process group after 20 seconds. Resolves once the process has exited. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), killAfterMs)
  await exited
  clearTimeout(kill)
}
