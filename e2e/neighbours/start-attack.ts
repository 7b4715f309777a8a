import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AttackName, Target } from './attacks.ts'

/** How many requests ended how: by status and reason, or by what became of the connection. */
export type Tally = Record<string, number>

/** Starts an attack in a process of its own. */
export const startAttack = (attack: AttackName, target: Target) => {
  const child = fork(join(import.meta.dirname, 'attacker.ts'))
  const tally = once(child, 'message')
  child.send({ attack, target })
  return {
    /** Ends the attack. @returns what became of its requests. */
    async stop(): Promise<Tally> {
      child.send('stop')
      return (await tally)[0] as Tally
    },
  }
}
