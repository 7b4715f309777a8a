import type { Command } from 'commander'
import { renderTable, type Table } from './table.ts'
import { terminalOf } from './terminal.ts'

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

/** Prints an outcome: JSON with `--json`, and for a list unless stdout is a terminal. */
export const printOutcome = (command: Command, { json, text, table, footer }: Outcome): void => {
  const terminal = terminalOf(command)
  const wantsJson = command.optsWithGlobals<{ json?: boolean }>().json || (table && !terminal.isOutputTty)
  const list = table && table.rows.length > 0 ? renderTable(table) : text
  const forPeople = footer === undefined ? list : `${list}\n${footer}`
  terminal.print(`${wantsJson ? JSON.stringify(json) : forPeople}\n`)
}
