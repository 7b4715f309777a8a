import type { Command } from 'commander'
import { renderTable, type Table } from './table.ts'
import { terminalOf } from './terminal.ts'

/** What a command has to say, to programs and to people. */
export interface Outcome {
  json: object
  /** For people; a list says here that it is empty. */
  text: string
  /** Makes the outcome a list: a table on a terminal, JSON anywhere else. */
  table?: Table
}

/** Prints JSON with `--json`, and for a list that no person reads. */
export const printOutcome = (command: Command, { json, text, table }: Outcome): void => {
  const terminal = terminalOf(command)
  const wantsJson = command.optsWithGlobals<{ json?: boolean }>().json || (table && !terminal.isReading)
  const forPeople = table && table.rows.length > 0 ? renderTable(table) : text
  terminal.print(`${wantsJson ? JSON.stringify(json) : forPeople}\n`)
}
