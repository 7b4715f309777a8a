import type { Tally, Verdict } from './client.ts'

/** The effect of one fault on all clients. */
export interface Outcome {
  fault: string
  tallies: Tally[]
  verdicts: Verdict[]
  /** Time from the end of the fault until every kind of request succeeded; undefined when that did not happen. */
  recoveryMs: number | undefined
}

/** The totals of one fault over all its runs. */
interface Row {
  times: number
  requests: number
  /** Number of failures by status and reason. */
  failures: Map<string, number>
  lost: number
  doubled: number
  outOfOrder: number
  streamDuplicates: number
  recoveriesMs: number[]
}

/** Adds up the outcomes of each fault over a whole run. */
export const createReport = () => {
  const rows = new Map<string, Row>()
  return {
    add({ fault, tallies, verdicts, recoveryMs }: Outcome): void {
      const row = rows.get(fault) ?? emptyRow()
      rows.set(fault, row)
      row.times++
      for (const { requests, failures } of tallies) {
        row.requests += requests
        for (const [status, count] of failures)
          row.failures.set(status, (row.failures.get(status) ?? 0) + count)
      }
      for (const { lost, doubled, outOfOrder, streamDuplicates } of verdicts) {
        row.lost += lost.length
        row.doubled += doubled.length
        row.outOfOrder += outOfOrder.length
        row.streamDuplicates += streamDuplicates
      }
      if (recoveryMs !== undefined) row.recoveriesMs.push(recoveryMs)
    },

    /** A Markdown table whose columns are also aligned as plain text. */
    toMarkdown(): string {
      const table = [columns, ...[...rows].map(cells)]
      const widths = columns.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
      const lines = table.map((row) => `| ${row.map((cell, n) => cell.padEnd(widths[n]!)).join(' | ')} |`)
      lines.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
      return `${lines.join('\n')}\n`
    },
  }
}

const columns = [
  'Fault',
  'Times',
  'Requests',
  'Failed',
  'Lost',
  'Doubled',
  'Out of order',
  'Repeats in the stream',
  'Recovery, median ms',
  'Longest ms',
]

const emptyRow = (): Row => ({
  times: 0,
  requests: 0,
  failures: new Map(),
  lost: 0,
  doubled: 0,
  outOfOrder: 0,
  streamDuplicates: 0,
  recoveriesMs: [],
})

const cells = ([fault, row]: [string, Row]) => {
  const { times, requests, failures, lost, doubled, outOfOrder, streamDuplicates, recoveriesMs } = row
  const failed = [...failures].sort().map(([status, count]) => `${status}: ${count}`)
  const recoveries = recoveriesMs.toSorted((a, b) => a - b)
  const [median, longest] = [recoveries[Math.floor((recoveries.length - 1) / 2)], recoveries.at(-1)]
  return [
    fault,
    `${times}`,
    `${requests}`,
    failed.join(', ') || 'none',
    `${lost}`,
    `${doubled}`,
    `${outOfOrder}`,
    `${streamDuplicates}`,
    recoveries.length < times ? `never (${times - recoveries.length})` : `${median}`,
    `${longest ?? '-'}`,
  ]
}
