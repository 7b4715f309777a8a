import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { MongodbEngine } from './mongodb-engine.ts'

/**
 * Runs the command after the data folder (`$1`) until standard input ends, then kills it and removes the folder. Standard
 * input ends with this process, even after `kill -9`. The shell ignores Ctrl-C, so that the server outlives the tests.
 */
const runUntilInputEnds =
  'trap "" INT TERM; folder=$1; shift; exec 3<&0; "$@" <&- 3<&- 2>&1 & exec >&-; read -r _ <&3; kill -9 $!; wait $!; [ -z "$folder" ] || rm -rf "$folder"'

/**
 * Starts a server that ends with this process. Resolves once the server has printed its address.
 *
 * @param folder of the server's data, removed after the server has ended.
 * @throws {Error} if the server ends before it prints its address.
 */
export const startProgram = async (
  command: string,
  args: string[],
  folder = '',
): Promise<Omit<MongodbEngine, 'describe'>> => {
  const child = spawn('sh', ['-c', runUntilInputEnds, 'sh', folder, command, ...args], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  child.unref()
  const stop = async () => {
    child.ref()
    child.stdin.end()
    await exited
  }
  for await (const line of createInterface(child.stdout)) {
    const address = /(?:mongodb:\/\/|listening on )(\S+)/.exec(line)?.[1]
    if (!address) continue
    // Drains the pipe, so that the server never blocks on it, without keeping this process alive.
    child.stdout.resume()
    if (child.stdout instanceof Socket) child.stdout.unref()
    return { url: `mongodb://${address}`, pid: onlyChildOf(child.pid!), stop }
  }
  await stop()
  throw new Error(`${command} ended before it printed its address`)
}

/** The process id from Linux's `/proc`; undefined on other systems. */
const onlyChildOf = (pid: number): number | undefined => {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()) || undefined
  } catch {
    return undefined
  }
}
