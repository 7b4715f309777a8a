/** Program: runs one attack until its parent process sends `stop`, then sends back the outcomes of its requests. */
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { type Attack, type AttackName, attacks, type Target } from './attacks.ts'

/** Lowest priority: in production, attackers do not run on the machine of the service. */
setPriority(19)

/** Lowest priority of the session too, where Linux has them (sched(7)): it takes one change in 100 ms of all processes. */
const lowerSession = () => {
  try {
    writeFileSync('/proc/self/autogroup', '19')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN')
      setTimeout(lowerSession, 100 + Math.random() * 2_000)
  }
}
lowerSession()

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
