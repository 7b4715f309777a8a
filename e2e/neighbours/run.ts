/** `npm run test:neighbours`: runs all attacks concurrently on a large organization. Exits with 1 on a breach. */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import CliTable from 'cli-table3'
import { median } from 'simple-statistics'
import { type AttackName, attacks } from './attacks.ts'
import { breachesOf, isProperOutcome, promisedBounds } from './breaches.ts'
import { attackFor, type Tally } from './start-attack.ts'
import { type Neighbourhood, type Observation, observe, startNeighbourhood } from './start-neighbourhood.ts'

const usage = `npm run test:neighbours -- [OPTION…]

  --minutes N   duration of the attacks (default: 5)
  --forms N     forms of the attacked organization (default: 90000)
`

/** Length of a window. Times are medians over windows, so that one pause of the machine is no breach. */
const windowMs = 20_000
const natsPauseMs = 3_000
/** What publishes get while NATS does not respond. */
const withoutNats = 'POST 503 PUBLISHING_UNAVAILABLE'
const replies = 500_000

const main = async (minutes: number, forms: number): Promise<boolean> => {
  log('filling the attacked organization')
  const windows = Math.max(1, Math.round((minutes * 60_000) / windowMs))
  const repliedForms = Math.ceil(windows / 3)
  await using neighbourhood = await startNeighbourhood({ smallForms: forms, replies, repliedForms })
  await delay(windowMs / 4)
  const baseline = await observe(neighbourhood, () => delay(windowMs))

  log(`running all attacks for ${minutes} minutes`)
  const ended = Promise.withResolvers<void>()
  const running = Object.fromEntries(
    await Promise.all(
      (Object.keys(attacks) as AttackName[]).map(async (attack) => {
        const account = await neighbourhood.system.account({ in: neighbourhood.attacker })
        return [attack, attackFor(attack, [neighbourhood.target(account)], ended.promise)] as const
      }),
    ),
  )
  const observations: Observation[] = []
  for (let number = 0; number < windows; number++) {
    const disturb = [deleteRepliedForm, pauseNats, doNothing][number % 3]!
    const observed = await observe(neighbourhood, () =>
      Promise.all([disturb(neighbourhood), delay(windowMs)]),
    )
    const failures = observed.failures.filter((failure) => disturb !== pauseNats || failure !== withoutNats)
    observations.push({ ...observed, failures })
  }
  ended.resolve()
  const tallies: [string, Tally][] = []
  for (const [attack, tally] of Object.entries(running)) tallies.push([attack, await tally])

  const total = combineWindows(observations)
  const improper = tallies.flatMap(([attack, tally]) =>
    Object.keys(tally)
      .filter((outcome) => !isProperOutcome(outcome))
      .map((outcome) => `${attack}: ${tally[outcome]} × ${outcome}`),
  )
  const breaches = [...breachesOf(total, baseline, promisedBounds), ...improper]
  report(baseline, total, tallies, breaches)
  return breaches.length === 0
}

const deleteRepliedForm = async ({ system, attacker, seeds }: Neighbourhood) => {
  const publicId = seeds.repliedForms.pop()
  if (publicId) await system.call(attacker, 'DELETE', `${attacker.forms}/${publicId}`)
}

const pauseNats = async ({ system: { nats } }: Neighbourhood) => {
  process.kill(nats.pid, 'SIGSTOP')
  try {
    await delay(natsPauseMs)
  } finally {
    process.kill(nats.pid, 'SIGCONT')
  }
}

const doNothing = async () => {}

/** Medians of times, all failures, and the maximum usage of each service over all windows. */
const combineWindows = (windows: readonly Observation[]): Observation => {
  const usage: Observation['usage'] = {}
  for (const [name, each] of windows.flatMap((window) => Object.entries(window.usage))) {
    const known = usage[name]
    usage[name] = {
      peakMiB: Math.max(known?.peakMiB ?? 0, each.peakMiB),
      longestTaskMs: Math.max(known?.longestTaskMs ?? 0, each.longestTaskMs),
    }
  }
  return {
    p50: median(windows.map(({ p50 }) => p50)),
    p99: median(windows.map(({ p99 }) => p99)),
    patchP99: median(windows.map(({ patchP99 }) => patchP99)),
    publishP99: median(windows.map(({ publishP99 }) => publishP99)),
    requests: windows.reduce((sum, { requests }) => sum + requests, 0),
    failures: windows.flatMap(({ failures }) => failures),
    usage,
  }
}

const report = (
  baseline: Observation,
  observed: Observation,
  tallies: readonly [string, Tally][],
  breaches: readonly string[],
) => {
  print(
    ['the victim', 'requests', 'failed', 'p50 ms', 'p99 ms', 'patch p99 ms', 'publish p99 ms'],
    (
      [
        ['without attacks', baseline],
        ['during all attacks', observed],
      ] as const
    ).map(([name, of]) => [
      name,
      `${of.requests}`,
      `${of.failures.length}`,
      of.p50.toFixed(1),
      of.p99.toFixed(1),
      of.patchP99.toFixed(1),
      of.publishP99.toFixed(1),
    ]),
  )
  print(
    ['service', 'peak MiB', 'longest task ms'],
    Object.entries(observed.usage).map(([name, { peakMiB, longestTaskMs }]) => [
      name,
      peakMiB.toFixed(0),
      longestTaskMs.toFixed(0),
    ]),
  )
  print(
    ['attack', 'outcomes of its requests'],
    tallies.map(([attack, tally]) => [
      attack,
      Object.entries(tally)
        .map(([outcome, count]) => `${count} × ${outcome}`)
        .join('\n'),
    ]),
  )
  process.stdout.write(
    breaches.length > 0 ? `BREACHED:\n  ${breaches.join('\n  ')}\n` : 'No bound was exceeded.\n',
  )
}

const print = (head: string[], rows: string[][]) => {
  const table = new CliTable({ head, style: { head: [], border: [], compact: true } })
  table.push(...rows)
  process.stdout.write(`${table.toString()}\n\n`)
}

const log = (text: string) => process.stderr.write(`${text} ...\n`)

const positive = (name: string, text: string): number => {
  const number = Number(text)
  if (number > 0) return number
  throw new Error(`--${name} must be a number above 0`)
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    forms: { type: 'string', default: '90000' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) process.stdout.write(usage)
else if (!(await main(positive('minutes', values.minutes), positive('forms', values.forms))))
  process.exitCode = 1
