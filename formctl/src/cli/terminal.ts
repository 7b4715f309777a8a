import { createInterface } from 'node:readline'
import type { Command } from 'commander'

/** Input and output of a command line. Tests pass their own. */
export interface Terminal {
  /** Whether stdin is a terminal, so that a person can respond to a prompt. */
  isInputTty: boolean
  /** Whether stdout is a terminal: lists are tables there, and JSON elsewhere. */
  isOutputTty: boolean
  /** Writes to stdout. */
  print(text: string): void
  /** Writes to stderr. */
  printError(text: string): void
  /** Writes `text` to stderr and reads a line from stdin. @returns the line; empty at the end of the input. */
  prompt(text: string): Promise<string>
}

const prompt = (text: string): Promise<string> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('close', () => resolve(''))
    lines.question(text, (line) => {
      resolve(line)
      lines.close()
    })
  })

/** The terminal of this process. */
export const processTerminal = (): Terminal => ({
  isInputTty: process.stdin.isTTY === true,
  isOutputTty: process.stdout.isTTY === true,
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  prompt,
})

const terminals = new WeakMap<Command, Terminal>()

export const setTerminal = (program: Command, terminal: Terminal): void => {
  terminals.set(program, terminal)
}

/** The terminal of the program that a command belongs to. */
export const terminalOf = (command: Command): Terminal =>
  command.parent ? terminalOf(command.parent) : (terminals.get(command) ?? processTerminal())

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
