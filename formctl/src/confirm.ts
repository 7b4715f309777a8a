import type { Command } from 'commander'
import { terminalOf } from './terminal.ts'

/** For a command that cannot be undone. */
export const yesOption = ['-y, --yes', 'do not ask; nobody is asked where stdin is no terminal'] as const

/**
 * Asks whoever sits at the terminal before something that cannot be undone. Scripts have nobody to ask and go on.
 *
 * @throws {Error} unless the answer is yes.
 */
export const confirm = async (command: Command, question: string): Promise<void> => {
  const terminal = terminalOf(command)
  if (command.opts<{ yes?: boolean }>().yes || !terminal.isAnswering) return
  const answer = await terminal.ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was changed.')
}

/**
 * Asks before something that takes other people's work along. Where nobody can be asked, only `--yes` lets it go on.
 *
 * @throws {Error} unless the answer is yes.
 */
export const demandConfirmation = async (command: Command, question: string): Promise<void> => {
  const hasYes = command.opts<{ yes?: boolean }>().yes === true
  if (!hasYes && !terminalOf(command).isAnswering) {
    throw new Error(`Nothing was changed, since nobody can be asked here. Add --yes for yes to: ${question}`)
  }
  await confirm(command, question)
}
