import type { Command } from 'commander'
import { terminalOf } from './terminal.ts'

/** Option of commands that cannot be undone. */
export const yesOption = ['-y, --yes', 'skip the confirmation; only a terminal prompts for it'] as const

/**
 * Prompts for confirmation on a terminal. Without a terminal, or with `--yes`, returns immediately.
 *
 * @param prompt without the trailing `[y/N]`.
 * @throws {Error} unless the input is y or yes.
 */
export const confirm = async (command: Command, prompt: string): Promise<void> => {
  const terminal = terminalOf(command)
  if (command.opts<{ yes?: boolean }>().yes || !terminal.isInputTty) return
  const input = await terminal.prompt(`${prompt} [y/N] `)
  if (!/^y(es)?$/i.test(input.trim())) throw new Error('Nothing was changed.')
}

/**
 * Prompts for confirmation of a command that deletes the work of other people. Without a terminal it requires `--yes`.
 *
 * @throws {Error} unless the command is confirmed.
 */
export const requireConfirmation = async (command: Command, prompt: string): Promise<void> => {
  const hasYes = command.opts<{ yes?: boolean }>().yes === true
  if (!hasYes && !terminalOf(command).isInputTty) {
    throw new Error(`Nothing was changed, since stdin is not a terminal. Add --yes to confirm: ${prompt}`)
  }
  await confirm(command, prompt)
}
