import { type ChildProcess, fork } from 'node:child_process'
import { on } from 'node:events'
import { join } from 'node:path'
import type { AttackName, Target } from './attacks.ts'
import type { AttackMessage } from './run-attacks.ts'

/** Number of requests by outcome. */
export type Tally = Record<string, number>

/**
 * A process for all attacks, with the lowest priority: in production, attackers do not run on the machine of the service. One
 * process, since Linux gives each of many that wait for the processor a slice, also of low priority. In a session of its own:
 * Linux shares the processor between sessions. It ends with this process.
 */
const startAttacker = (): ChildProcess => {
  const program = join(import.meta.dirname, 'run-attacks.ts')
  const execArgv = ['-n', '19', process.execPath]
  const child = fork(program, { execPath: 'nice', execArgv, detached: true }).setMaxListeners(0)
  child.unref()
  child.channel?.unref()
  return child
}

let attacker: ChildProcess | undefined
let attacks = 0

/** Runs an attack on each target until `until` is settled. @returns the outcomes of its requests. */
export const attackFor = async (
  attack: AttackName,
  targets: readonly Target[],
  until: Promise<unknown>,
): Promise<Tally> => {
  attacker ??= startAttacker()
  const message: AttackMessage = { id: attacks++, attack, targets }
  attacker.send(message)
  await until
  const replies = on(attacker, 'message', { close: ['exit'] })
  attacker.send(message)
  for await (const [{ id, tally }] of replies) if (id === message.id) return tally
  throw new Error(`the attack ${attack} ended with ${attacker.exitCode}`)
}
