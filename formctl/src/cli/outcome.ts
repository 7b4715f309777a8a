import CliTable from 'cli-table3'
import type { Command } from './command.ts'
import { withoutControlCharacters } from './terminal.ts'

/** The result of a command, for programs and for people. */
export interface Outcome {
  json: object
  /** For people. Of a list: the message for an empty list. */
  text: string
  /** Of a list: printed on a terminal; elsewhere a list is JSON. */
  table?: Table
  /** Printed below the table, or below `text`. */
  footer?: string
}

/** What a command does with a store or with the API. `operands` are the arguments that are not options. */
export type Work<Subject, Options = object> = (
  subject: Subject,
  options: Options,
  operands: string[],
  command: Command,
) => Promise<Outcome>

/** JSON with `--json`, and for a list unless stdout is a terminal. */
export const printOutcome = (command: Command, { json, text, table, footer }: Outcome): void => {
  const { terminal } = command
  const wantsJson = command.wantsJson || (table && !terminal.isOutputTty)
  const list = table && table.rows.length > 0 ? renderTable(table) : text
  const lines = (footer === undefined ? list : `${list}\n${footer}`).split('\n')
  terminal.print(`${wantsJson ? JSON.stringify(json) : lines.map(withoutControlCharacters).join('\n')}\n`)
}

interface Table {
  columns: string[]
  rows: (string | undefined)[][]
}

/** The outcome of a list: `name` of its member in JSON, `text` if it is empty, and cells of an item by column title. */
export const listOutcome = <T extends object>(
  name: string,
  items: readonly T[],
  text: string,
  cells: Readonly<Record<string, (item: T) => string | undefined>>,
): Outcome => ({
  json: { [name]: items },
  text,
  table: {
    columns: Object.keys(cells),
    rows: items.map((item) => Object.values(cells).map((cell) => cell(item))),
  },
})

const gap = '  '
const noLines = Object.fromEntries(
  ['top', 'bottom', 'left', 'mid', 'right'].flatMap((side) =>
    ['', '-mid', '-left', '-right'].map((part) => [`${side}${part}`, '']),
  ),
)

/** Renders aligned columns without borders and colours. */
const renderTable = ({ columns, rows }: Table): string => {
  const table = new CliTable({
    head: columns.map((column) => column.toUpperCase()),
    chars: { ...noLines, middle: gap },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...rows.map((row) => row.map((cell) => withoutControlCharacters(cell ?? ''))))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** `2026-11-20 09:30` in UTC; empty for undefined. */
export const shortTime = (time?: Date): string => time?.toISOString().slice(0, 16).replace('T', ' ') ?? ''

/** A number with its noun, such as `1 form` or `20 forms`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
