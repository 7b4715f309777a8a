import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type AttackName, attacks } from '../neighbours/attacks.ts'
import { breachesOf, isProperOutcome, sharedMachineBounds } from '../neighbours/breaches.ts'
import { largeDraft } from '../neighbours/seed-organization.ts'
import { attackFor } from '../neighbours/start-attack.ts'
import { observeVictim, untilRecovered } from '../neighbours/start-neighbourhood.ts'
import { startVictim, type Victim } from '../neighbours/start-victim.ts'
import { type Account, publishable, type System } from '../system.ts'

/** Duration of an attack, in milliseconds. */
const attackMs = 3_000
/** Attempts of an attack until the neighbour is served within its time. */
const attempts = 3
/** Revisions of the form that attacks compare. */
const revisions = 5

/** Runs every attack in turn, next to a neighbour. @throws when the neighbour is not served in one of them. */
export const attackNeighbour = async (
  { call }: Pick<System, 'call'>,
  origin: string,
  attacker: Account,
  neighbour: Account,
): Promise<void> => {
  const create = async (account: Account, form: object) => {
    const { status, body } = await call(account, 'POST', account.forms, { form })
    assert.equal(status, 200, JSON.stringify(body))
    return body.publicId as string
  }
  const revisedForm = await create(attacker, largeDraft('Large', 440_000))
  for (let number = 0; number < revisions; number++)
    await call(attacker, 'POST', `${attacker.forms}/${revisedForm}/publish`)
  const target = {
    origin,
    apiKey: attacker.apiKey,
    forms: `/v2${attacker.forms}`,
    revisedForm,
    largeForm: await create(attacker, largeDraft('Large', 440_000)),
    bigForms: [await create(attacker, largeDraft('Big', 700_000))],
  }
  const form = await create(neighbour, publishable())
  const victim = startVictim({ url: `${origin}/v2${neighbour.forms}/${form}`, apiKey: neighbour.apiKey })
  try {
    await untilRecovered({ victim })
    const baseline = await observeVictim(victim, () => delay(attackMs))
    for (const attack of Object.keys(attacks) as AttackName[]) {
      const breaches = async () => {
        const observed = await observeVictim(victim, () => attackFor(attack, [target], delay(attackMs)))
        process.stdout.write(`${attack}: p99 ${Math.round(observed.p99)} ms\n`)
        assert.deepEqual(
          Object.keys(observed.result).filter((outcome) => !isProperOutcome(outcome)),
          [],
        )
        return breachesOf({ ...observed, usage: {} }, baseline, sharedMachineBounds)
      }
      assert.deepEqual(await inAnyAttempt(victim, breaches), [], attack)
    }
  } finally {
    victim.stop()
  }
}

/** A defect slows the victim in every attempt, another program on the machine hardly in three. */
const inAnyAttempt = async (victim: Victim, breaches: () => Promise<string[]>): Promise<string[]> => {
  let found: string[] = []
  for (let attempt = 0; attempt < attempts; attempt++) {
    found = await breaches()
    await untilRecovered({ victim })
    if (found.length === 0) break
  }
  return found
}
