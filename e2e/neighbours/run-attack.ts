/** Program: runs one attack until its parent process sends `stop`, then sends back the outcomes of its requests. */
import { setPriority } from 'node:os'
import { type Attack, type AttackName, attacks, type Target } from './attacks.ts'

/** Lowest priority: in production, attackers do not run on the machine of the service. */
setPriority(19)

const stop = new AbortController()
const tally: Record<string, number> = {}
const record = (outcome: string) => {
  tally[outcome] = (tally[outcome] ?? 0) + 1
}

process.on('message', async (message: { attack: AttackName; targets: Target[] } | 'stop') => {
  if (message === 'stop') return stop.abort()
  const attack: Attack = attacks[message.attack]
  await Promise.all(message.targets.map((target) => attack(target, stop.signal, record)))
  process.send!(tally)
  process.disconnect?.()
})
process.once('disconnect', () => process.exit())
