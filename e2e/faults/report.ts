import { writeFileSync } from 'node:fs'
import type { Tally, Verdict } from './client.ts'

/** What came of one fault under load. */
export interface Outcome {
  fault: string
  tallies: Tally[]
  verdicts: Verdict[]
  /** From the end of the fault until a request of each kind succeeds. */
  recoverMs: number
}

/** One row of the report: all times that a fault was done, together. */
interface Row {
  fault: string
  times: number
  requests: number
  /** By kind and status, as in `publish 503`. */
  failures: Record<string, number>
  lost: number
  doubled: number
  recoverMs: { median: number; max: number }
}

export const createReport = () => {
  const outcomes = new Map<string, Outcome[]>()
  const rows = () => [...outcomes].map(([fault, times]) => rowOf(fault, times))
  return {
    add(outcome: Outcome): void {
      outcomes.set(outcome.fault, [...(outcomes.get(outcome.fault) ?? []), outcome])
    },
    /** As a Markdown table. */
    text: () => markdown(rows()),
    /** @param path ends in `.json` for the rows as JSON; anything else becomes Markdown. */
    write(path: string): void {
      writeFileSync(path, path.endsWith('.json') ? `${JSON.stringify(rows(), null, 2)}\n` : markdown(rows()))
    },
  }
}

const rowOf = (fault: string, times: Outcome[]): Row => {
  const recoveries = times.map(({ recoverMs }) => recoverMs).sort((a, b) => a - b)
  const verdicts = times.flatMap((each) => each.verdicts)
  const failures: Record<string, number> = {}
  for (const { kind, status } of times.flatMap((each) => each.tallies).flatMap((tally) => tally.failures)) {
    const name = `${kind} ${status}`
    failures[name] = (failures[name] ?? 0) + 1
  }
  return {
    fault,
    times: times.length,
    requests: sum(times.flatMap(({ tallies }) => tallies).map(({ requests }) => requests)),
    failures,
    lost: sum(verdicts.map(({ lost }) => lost.length)),
    doubled: sum(verdicts.map(({ doubled }) => doubled.length)),
    recoverMs: { median: recoveries[Math.floor(recoveries.length / 2)]!, max: recoveries.at(-1)! },
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

const markdown = (rows: Row[]): string => {
  const head = ['fault', 'times', 'requests', 'failed', 'lost', 'doubled', 'back after (median, max)']
  const cells = rows.map(({ fault, times, requests, failures, lost, doubled, recoverMs }) => [
    fault,
    times,
    requests,
    Object.entries(failures)
      .sort()
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ') || 'none',
    lost,
    doubled,
    `${recoverMs.median} ms, ${recoverMs.max} ms`,
  ])
  const line = (texts: unknown[]) => `| ${texts.join(' | ')} |\n`
  return [head, head.map(() => '---'), ...cells].map(line).join('')
}
