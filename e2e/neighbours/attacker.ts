/** Program: runs one attack in a process of its own, whose CPU time delays no measurement, until it is told to stop. */
import { setPriority } from 'node:os'
import { type Attack, type AttackName, attacks, type Target } from './attacks.ts'

/** The CPU time of attackers belongs to other machines: it yields to that of the service. */
setPriority(19)

const stop = new AbortController()
const tally: Record<string, number> = {}
const note = (outcome: string) => {
  tally[outcome] = (tally[outcome] ?? 0) + 1
}

process.on('message', async (message: { attack: AttackName; target: Target } | 'stop') => {
  if (message === 'stop') return stop.abort()
  const attack: Attack = attacks[message.attack]
  await attack(message.target, stop.signal, note)
  process.send!(tally)
  process.disconnect?.()
})
process.once('disconnect', () => process.exit())
