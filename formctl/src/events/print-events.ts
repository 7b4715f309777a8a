import type { FormEvent } from '@fms/contracts'
import type { Command } from 'commander'
import { withoutControlCharacters } from '../cli/table.ts'
import { terminalOf } from '../cli/terminal.ts'

/** Prints events one after another: a line for people on a terminal; elsewhere, or with `--json`, a line of JSON. */
export const eventPrinter = (command: Command): ((event: FormEvent) => void) => {
  const terminal = terminalOf(command)
  const forPeople = terminal.isOutputTty && !command.optsWithGlobals<{ json?: boolean }>().json
  return (event) => terminal.print(`${forPeople ? lineOf(event) : JSON.stringify(event)}\n`)
}

/** Sequence, time, type, public id, actor and name. */
const lineOf = ({ sequence, time, type, data: { publicId, name, actor } }: FormEvent): string =>
  withoutControlCharacters(
    [Number(sequence), time, type.padEnd('form.unpublished'.length), publicId, actorOf(actor), name].join(
      '  ',
    ),
  )

const actorOf = (actor: FormEvent['data']['actor']): string => {
  if ('operator' in actor) return 'operator'
  return actor.key ? `${actor.user} (fms_${actor.key.prefix}…)` : actor.user
}
