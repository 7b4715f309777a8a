/** Program: runs attacks until its parent process stops them, and sends back the outcomes of their requests. */
import { writeFileSync } from 'node:fs'
import { type Attack, type AttackName, attacks, type Target } from './attacks.ts'

/** The first message with an id starts an attack, the second one stops it. */
export interface AttackMessage {
  id: number
  attack: AttackName
  targets: readonly Target[]
}

/** Lowest priority between sessions, where Linux has them (sched(7)): it takes one change in 100 ms of all processes. */
const lowerSession = () => {
  try {
    writeFileSync('/proc/self/autogroup', '19')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') setTimeout(lowerSession, 100)
  }
}
lowerSession()

const running = new Map<number, AbortController>()

process.on('message', async ({ id, attack: name, targets }: AttackMessage) => {
  const started = running.get(id)
  if (started) return started.abort()
  const stop = new AbortController()
  running.set(id, stop)
  const tally: Record<string, number> = {}
  const record = (outcome: string) => {
    tally[outcome] = (tally[outcome] ?? 0) + 1
  }
  const attack: Attack = attacks[name]
  await Promise.all(targets.map((target) => attack(target, stop.signal, record)))
  process.send!({ id, tally })
})
process.once('disconnect', () => process.exit())
