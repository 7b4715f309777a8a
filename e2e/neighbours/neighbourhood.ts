import { setTimeout as delay } from 'node:timers/promises'
import { readStartConfig } from '../../scripts/start-config.ts'
import { type Account, publishable, type System, startSystem } from '../system.ts'
import type { AttackName, Target } from './attacks.ts'
import { type Seeds, type Sizes, seed } from './seed.ts'
import { startAttack, type Tally } from './start-attack.ts'
import { p99Of, percentile, startVictim, type Victim } from './victim.ts'
import { type Strain, watchServices } from './watch-services.ts'

/** A running system with an organization that attacks, and a victim in another. */
export interface Neighbourhood extends AsyncDisposable {
  system: System
  /** Of the attacked organization: an editor. */
  attacker: Account
  victim: Victim
  victimAccount: Account
  victimForm: string
  seeds: Seeds
  target(account: Account): Target
}

/** What the victim saw while something happened, and what that took of the services. */
export interface Beside {
  p50: number
  p99: number
  requests: number
  failures: string[]
  strain: Record<string, Strain>
}

export const startNeighbourhood = async (
  sizes: Sizes,
  env: NodeJS.ProcessEnv = {},
): Promise<Neighbourhood> => {
  const system = await startSystem({ env })
  const attacker = await system.account()
  const { FORMS_STORE_URL } = readStartConfig({ DATA_DIR: system.dataDir })
  const seeds = await seed(FORMS_STORE_URL, attacker.organizationId, sizes)
  const victimAccount = await system.account()
  const { body } = await system.call(victimAccount, 'POST', victimAccount.forms, {
    form: publishable({ name: 'Small' }),
  })
  const victimForm = `${victimAccount.forms}/${body.publicId}`
  const victim = startVictim({ url: `${system.baseUrl}${victimForm}`, apiKey: victimAccount.apiKey })
  return {
    system,
    attacker,
    victim,
    victimAccount,
    victimForm,
    seeds,
    target: ({ apiKey, forms }) => ({
      origin: new URL(system.baseUrl).origin,
      apiKey,
      forms: `/v2${forms}`,
      revisedForm: seeds.revisedForm,
      largeForm: seeds.largeForm,
    }),
    async [Symbol.asyncDispose]() {
      victim.stop()
      await system[Symbol.asyncDispose]()
    },
  }
}

/** Looks on while `happens`. */
export const lookOn = async <T>(
  { system, victim }: Neighbourhood,
  happens: () => Promise<T>,
): Promise<Beside & { result: T }> => {
  const watch = await watchServices(system)
  await victim.take()
  const result = await happens()
  const { times, failures } = await victim.take()
  const strain = await watch.stop()
  const requests = times.length + failures.length
  return { p50: percentile(times, 0.5), p99: p99Of(times), requests, failures, strain, result }
}

/** Waits until the victim is served as in quiet times again. @throws {Error} when it still is not after two minutes. */
export const untilQuiet = async ({ victim }: Neighbourhood): Promise<void> => {
  const deadline = performance.now() + 120_000
  for (;;) {
    await victim.take()
    await delay(500)
    const { times, failures } = await victim.take()
    if (failures.length === 0 && percentile(times, 0.9) < 50) return
    if (performance.now() > deadline) throw new Error('the victim is not served as before after two minutes')
  }
}

/** Runs the attack for so long with the key of `account`. */
export const attackFor = async (
  neighbourhood: Neighbourhood,
  attack: AttackName,
  account: Account,
  until: Promise<unknown>,
): Promise<Tally> => {
  const running = startAttack(attack, neighbourhood.target(account))
  await until
  return running.stop()
}
