/** `npm run test:neighbours -- --minutes N`: all attacks at once beside a victim, at full size. Exits with 1 on a breach. */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import CliTable from 'cli-table3'
import { median } from 'simple-statistics'
import { type AttackName, attacks } from './attacks.ts'
import { attackFor, type Beside, lookOn, type Neighbourhood, startNeighbourhood } from './neighbourhood.ts'
import { breachesOf, isHelpful } from './rules.ts'
import type { Tally } from './start-attack.ts'

const usage = `npm run test:neighbours -- [OPTION…]

  --minutes N   how long all attacks go on at once (default: 5)
  --forms N     forms of the attacked organization (default: 90000)
`

/** The victim is judged by the median over windows of so long, so that one pause of the machine is no breach. */
const windowMs = 20_000
const natsStandsStillMs = 3_000
const replies = 500_000

const main = async (minutes: number, forms: number): Promise<boolean> => {
  say('filling the attacked organization')
  const windows = Math.max(1, Math.round((minutes * 60_000) / windowMs))
  const repliedForms = Math.ceil(windows / 3)
  await using neighbourhood = await startNeighbourhood({ smallForms: forms, replies, repliedForms })
  await delay(windowMs / 4)
  const quiet = await lookOn(neighbourhood, () => delay(windowMs))

  say(`all attacks at once for ${minutes} minutes`)
  const ended = Promise.withResolvers<void>()
  const running = Object.fromEntries(
    await Promise.all(
      (Object.keys(attacks) as AttackName[]).map(async (attack) => {
        const account = await neighbourhood.system.account({ in: neighbourhood.attacker })
        return [attack, attackFor(neighbourhood, attack, account, ended.promise)] as const
      }),
    ),
  )
  const seen: Beside[] = []
  for (let number = 0; number < windows; number++) {
    const happens = [deleteReplied, stopNats, waitOnly][number % 3]!
    seen.push(await lookOn(neighbourhood, () => Promise.all([happens(neighbourhood), delay(windowMs)])))
  }
  ended.resolve()
  const tallies: [string, Tally][] = []
  for (const [attack, tally] of Object.entries(running)) tallies.push([attack, await tally])

  const whole = wholeOf(seen)
  const unhelpful = tallies.flatMap(([attack, tally]) =>
    Object.keys(tally)
      .filter((outcome) => !isHelpful(outcome))
      .map((outcome) => `${attack}: ${tally[outcome]} × ${outcome}`),
  )
  const breaches = [...breachesOf(whole, quiet), ...unhelpful]
  report(quiet, whole, tallies, breaches)
  return breaches.length === 0
}

const deleteReplied = async ({ system, attacker, seeds }: Neighbourhood) => {
  const publicId = seeds.repliedForms.pop()
  if (publicId) await system.call(attacker, 'DELETE', `${attacker.forms}/${publicId}`)
}

const stopNats = async ({ system: { nats } }: Neighbourhood) => {
  process.kill(nats.pid, 'SIGSTOP')
  try {
    await delay(natsStandsStillMs)
  } finally {
    process.kill(nats.pid, 'SIGCONT')
  }
}

const waitOnly = async () => {}

/** Medians of the windows for times, all failures, and the most that any window took of a service. */
const wholeOf = (windows: readonly Beside[]): Beside => {
  const strain: Beside['strain'] = {}
  for (const [name, each] of windows.flatMap((window) => Object.entries(window.strain))) {
    const known = strain[name]
    strain[name] = {
      peakMiB: Math.max(known?.peakMiB ?? 0, each.peakMiB),
      longestTaskMs: Math.max(known?.longestTaskMs ?? 0, each.longestTaskMs),
    }
  }
  return {
    p50: median(windows.map(({ p50 }) => p50)),
    p99: median(windows.map(({ p99 }) => p99)),
    requests: windows.reduce((sum, { requests }) => sum + requests, 0),
    failures: windows.flatMap(({ failures }) => failures),
    strain,
  }
}

const report = (
  quiet: Beside,
  seen: Beside,
  tallies: readonly [string, Tally][],
  breaches: readonly string[],
) => {
  print(
    ['the victim', 'requests', 'failed', 'p50 ms', 'p99 ms'],
    (
      [
        ['quiet', quiet],
        ['beside all attacks', seen],
      ] as const
    ).map(([name, of]) => [
      name,
      `${of.requests}`,
      `${of.failures.length}`,
      of.p50.toFixed(1),
      of.p99.toFixed(1),
    ]),
  )
  print(
    ['service', 'peak MiB', 'longest task ms'],
    Object.entries(seen.strain).map(([name, { peakMiB, longestTaskMs }]) => [
      name,
      peakMiB.toFixed(0),
      longestTaskMs.toFixed(0),
    ]),
  )
  print(
    ['attack', 'what became of its requests'],
    tallies.map(([attack, tally]) => [
      attack,
      Object.entries(tally)
        .map(([outcome, count]) => `${count} × ${outcome}`)
        .join('\n'),
    ]),
  )
  process.stdout.write(
    breaches.length > 0 ? `BREACHED:\n  ${breaches.join('\n  ')}\n` : 'Nothing was breached.\n',
  )
}

const print = (head: string[], rows: string[][]) => {
  const table = new CliTable({ head, style: { head: [], border: [], compact: true } })
  table.push(...rows)
  process.stdout.write(`${table.toString()}\n\n`)
}

const say = (text: string) => process.stderr.write(`${text} ...\n`)

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
