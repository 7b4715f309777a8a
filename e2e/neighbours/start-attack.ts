import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { AttackName, Target } from './attacks.ts'

/** Number of requests by outcome. */
export type Tally = Record<string, number>

/**
 * Starts an attack of several callers in a separate process, so that its CPU time does not delay measurements. The process
 * is detached: Linux shares its CPU time between sessions, and a priority orders the processes of one. It ends with this
 * one (run-attack.ts).
 */
export const startAttack = (attack: AttackName, targets: readonly Target[]) => {
  const child = fork(join(import.meta.dirname, 'run-attack.ts'), { detached: true })
  const tally = once(child, 'message')
  child.send({ attack, targets })
  return {
    /** Ends the attack. @returns the outcomes of its requests. */
    async stop(): Promise<Tally> {
      if (child.exitCode !== null) throw new Error(`the attack ${attack} ended with ${child.exitCode}`)
      child.send('stop')
      const [outcomes] = await tally
      child.kill('SIGKILL')
      return outcomes as Tally
    },
  }
}
