import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Ticks of a second in which Linux counts processor time, on every architecture (`USER_HZ`). */
const ticksPerSecond = 100

/** Memory of a process, in bytes, as Linux tells it. */
export interface Memory {
  rss: number
  /** The part of `rss` that is the process's own, and no mapped file. */
  anonymous: number
}

/** Processor time that the processes and their children have used so far, in milliseconds; 0 where there is no /proc. */
export const cpuMsOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)

const cpuMs = (pid: number) => cpuMsOfStat(readProc(`${pid}/stat`))

/** @param stat the content of `/proc/PID/stat` (proc_pid_stat(5)), in which the name may hold spaces and parentheses. */
export const cpuMsOfStat = (stat: string): number => {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [userTicks, systemTicks] = [Number(afterName[11] ?? 0), Number(afterName[12] ?? 0)]
  return ((userTicks + systemTicks) * 1000) / ticksPerSecond
}

export const memoryOf = (pid: number): Memory => memoryOfStatus(readProc(`${pid}/status`))

/** @param status the content of `/proc/PID/status` (proc_pid_status(5)). */
export const memoryOfStatus = (status: string): Memory => {
  const bytes = (name: string) =>
    Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm'))?.[1] ?? 0) * 1024
  return { rss: bytes('VmRSS'), anonymous: bytes('RssAnon') }
}

/** The processes that `pid` has started and that are there still. */
export const childrenOf = (pid: number): number[] =>
  readProc(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

const readProc = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

const exitWithParent = join(import.meta.dirname, '../libs/testkit/src/exit-with-parent.ts')

/** Spawns a Node program that ends when this process does. @param output where what it prints goes. */
export const spawnNode = (
  args: string[],
  output: number | 'inherit',
  env?: NodeJS.ProcessEnv,
): ChildProcess =>
  spawn(process.execPath, ['--import', exitWithParent, ...args], {
    env: env ?? process.env,
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  })

/** Starts a program of this folder and waits until it tells its parent that it is ready. @returns it and what it told. */
export const startProgram = async <T>(
  name: string,
  ...args: string[]
): Promise<{ child: ChildProcess; told: T }> => {
  const child = spawnNode([join(import.meta.dirname, 'programs', name), ...args], 'inherit')
  const died = new AbortController()
  const onExit = () => died.abort(new Error(`${name} died before it was ready`))
  child.once('exit', onExit)
  const [told] = await once(child, 'message', { signal: died.signal })
  child.off('exit', onExit)
  return { child, told: told as T }
}
