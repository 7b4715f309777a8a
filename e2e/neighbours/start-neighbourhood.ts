import { setTimeout as delay } from 'node:timers/promises'
import { readStartConfig } from '../../scripts/start-config.ts'
import { type Account, publishable, type System, startSystem } from '../system.ts'
import type { Target } from './attacks.ts'
import { measureServices, type ServiceUsage } from './measure-services.ts'
import { type SeededForms, type SeedSizes, seedOrganization } from './seed-organization.ts'
import { p99Of, percentile, startVictim, type Victim } from './start-victim.ts'

/** A running system with an attacked organization, and a victim in another one. */
export interface Neighbourhood extends AsyncDisposable {
  system: System
  /** An editor of the attacked organization, whose requests are the attacks. */
  attacker: Account
  victim: Victim
  victimAccount: Account
  victimForm: string
  seeds: SeededForms
  target(account: Account, seeds?: SeededForms): Target
}

/** A module that measures the longest task of a service. */
const longestTask = import.meta.resolve('./longest-task.ts')

/** How the victim was served during some work, and what the services used. */
export interface Observation {
  /** Response times of the victim in milliseconds. */
  p50: number
  p99: number
  patchP99: number
  publishP99: number
  requests: number
  failures: string[]
  usage: Record<string, ServiceUsage>
}

/** @param env additional environment variables of the services. */
export const startNeighbourhood = async (
  sizes: SeedSizes,
  env: NodeJS.ProcessEnv = {},
): Promise<Neighbourhood> => {
  const system = await startSystem({ env: { NODE_OPTIONS: `--import=${longestTask}`, ...env } })
  const attacker = await system.account()
  const { FORMS_STORE_URL } = readStartConfig({ DATA_DIR: system.dataDir })
  const seeds = await seedOrganization(FORMS_STORE_URL, attacker.organizationId, sizes)
  const victimAccount = await system.account()
  const { body } = await system.call(victimAccount, 'POST', victimAccount.forms, {
    form: publishable({ name: 'Small' }),
  })
  const victimForm = `${victimAccount.forms}/${body.publicId}`
  await system.call(victimAccount, 'POST', `${victimForm}/publish`)
  const victim = startVictim({ url: `${system.baseUrl}${victimForm}`, apiKey: victimAccount.apiKey })
  return {
    system,
    attacker,
    victim,
    victimAccount,
    victimForm,
    seeds,
    target: ({ apiKey, forms }, { revisedForm, largeForm, bigForms } = seeds) => ({
      origin: new URL(system.baseUrl).origin,
      apiKey,
      forms: `/v2${forms}`,
      revisedForm,
      largeForm,
      bigForms,
    }),
    async [Symbol.asyncDispose]() {
      victim.stop()
      await system[Symbol.asyncDispose]()
    },
  }
}

/** Observes the victim while `work` runs. */
export const observeVictim = async <T>(
  victim: Victim,
  work: () => Promise<T>,
): Promise<Omit<Observation, 'usage'> & { result: T }> => {
  await victim.takeObservations()
  const result = await work()
  const { times, patchTimes, publishTimes, failures } = await victim.takeObservations()
  return {
    p50: percentile(times, 0.5),
    p99: p99Of(times),
    patchP99: p99Of(patchTimes),
    publishP99: p99Of(publishTimes),
    requests: times.length + patchTimes.length + publishTimes.length + failures.length,
    failures,
    result,
  }
}

/** Observes the victim and the services while `work` runs. */
export const observe = async <T>(
  { system, victim }: Neighbourhood,
  work: () => Promise<T>,
): Promise<Observation & { result: T }> => {
  const measurement = await measureServices(system)
  const observed = await observeVictim(victim, work)
  return { ...observed, usage: await measurement.stop() }
}

/** Waits until the victim is served as without attacks. @throws {Error} after two minutes. */
export const untilRecovered = async ({ victim }: Pick<Neighbourhood, 'victim'>): Promise<void> => {
  const deadline = performance.now() + 120_000
  for (;;) {
    await victim.takeObservations()
    await delay(500)
    const { times, failures } = await victim.takeObservations()
    if (failures.length === 0 && percentile(times, 0.9) < 50) return
    if (performance.now() > deadline) throw new Error('the victim has not recovered after two minutes')
  }
}
