/** Program: runs one attack until its parent process sends `stop`, then sends back the outcomes of its requests. */
import { existsSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { type Attack, type AttackName, attacks, type Target } from './attacks.ts'

/** The priority of this session (sched(7)), where Linux has them. */
const autogroup = '/proc/self/autogroup'

/** Lowest priority: in production, attackers do not run on the machine of the service. */
setPriority(19)
if (existsSync(autogroup)) writeFileSync(autogroup, '19')

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
