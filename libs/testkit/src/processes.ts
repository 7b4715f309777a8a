import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A Node program that runs until its supervisor ends. */
export interface Program {
  name: string
  /** Arguments of `node`. */
  args: string[]
  env?: NodeJS.ProcessEnv
}

/** A program that serves HTTP. */
export interface Service extends Program {
  /** `http://host:port`, reachable from this machine. */
  url: string
}

const killAfterMs = 10_000

/**
 * Spawns a Node program that ends with this process, even after `kill -9`.
 *
 * The program leads its own process group, so that Ctrl-C in a terminal reaches only the supervisor.
 */
export function spawnWithParent(
  { args, env }: Program,
  output: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  const exitWithParent = join(import.meta.dirname, 'processes/exit-with-parent.ts')
  return spawn(process.execPath, ['--import', exitWithParent, ...args], {
    env,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  })
}

/** Sends SIGTERM, and SIGKILL to the process group after 10 seconds. Resolves once the process has exited. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), killAfterMs)
  await exited
  clearTimeout(kill)
}
