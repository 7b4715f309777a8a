import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A Node program that is to run for as long as the supervisor does. */
export interface Program {
  name: string
  /** What follows `node` on its command line. */
  args: string[]
  env?: NodeJS.ProcessEnv
}

/** A program that serves HTTP. */
export interface Service extends Program {
  /** `http://host:port`, where this machine reaches it. */
  url: string
}

const killAfterMs = 10_000

/**
 * Spawns a Node program that ends when this process does, however it does.
 *
 * It leads a process group of its own, so that Ctrl-C in a terminal reaches the supervisor alone.
 */
export function spawnWithParent(
  { args, env }: Program,
  output: 'inherit' | 'pipe' = 'inherit',
): ChildProcess {
  const exitWithParent = join(import.meta.dirname, 'exit-with-parent.ts')
  return spawn(process.execPath, ['--import', exitWithParent, ...args], {
    env,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  })
}

/** Asks the process to end, and after ten seconds makes it and its children. Resolves when it is gone. */
export async function terminate(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const kill = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), killAfterMs)
  await exited
  clearTimeout(kill)
}
