import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnWithParent } from '@fms/testkit/processes'
import type { Load, Operation } from '../load/requests.ts'

/** The systems that are measured: the product, the product with three publishers, and the baselines. */
export const sideNames = {
  product: 'the product',
  three: 'the product, 3 publishers',
  B0: 'bare Fastify + SQLite',
  B1: 'B0 behind @fastify/http-proxy',
  J: 'bare JetStream round trip',
  M: 'bare Fastify + MongoDB driver',
} as const
export type SideName = keyof typeof sideNames

/** A system under load. */
export interface Side extends AsyncDisposable {
  name: SideName
  operations: readonly Operation[]
  /** Its process ids by process name. The CPU time of all of them is counted. */
  pids(): Record<string, number[]>
  load(operation: Operation, connections: number): Load
}

/** Unit in which Linux reports CPU time, on every architecture (`USER_HZ`). */
const ticksPerSecond = 100

/** Memory of a process in bytes, as Linux reports it. */
export interface Memory {
  rss: number
  /** The part of `rss` that is not mapped from files, which processes share. */
  anonymous: number
}

/** CPU time that the processes have used, user and system, in milliseconds; 0 for a process that has exited. */
export const cpuMsOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuMs(pid), 0)

const cpuMs = (pid: number) => cpuMsOfStat(readProc(`${pid}/stat`))

/** @param stat the content of `/proc/PID/stat` (proc_pid_stat(5)), whose process name may contain spaces and parentheses. */
export const cpuMsOfStat = (stat: string): number => {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [userTicks, systemTicks] = [Number(afterName[11] ?? 0), Number(afterName[12] ?? 0)]
  return ((userTicks + systemTicks) * 1000) / ticksPerSecond
}

/** Memory of a running process; zeros when it has exited. */
export const memoryOf = (pid: number): Memory => memoryOfStatus(readProc(`${pid}/status`))

/** @param status the content of `/proc/PID/status` (proc_pid_status(5)). */
export const memoryOfStatus = (status: string): Memory => {
  const bytes = (name: string) =>
    Number(status.match(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm'))?.[1] ?? 0) * 1024
  return { rss: bytes('VmRSS'), anonymous: bytes('RssAnon') }
}

const readProc = (path: string): string => {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

/** Starts a program of this folder and waits for its first message, which it sends when it is ready. */
export const startProgram = async <Message>(
  name: string,
  ...args: string[]
): Promise<{ child: ChildProcess; message: Message }> => {
  const child = spawnWithParent({ name, args: [join(import.meta.dirname, name), ...args] })
  const exited = new AbortController()
  const onExit = () => exited.abort(new Error(`${name} exited before it was ready`))
  child.once('exit', onExit)
  const [message] = await once(child, 'message', { signal: exited.signal })
  child.off('exit', onExit)
  return { child, message: message as Message }
}
