import { createInterface } from 'node:readline'
import type { Command } from 'commander'

/** Where a command line is typed and answered; tests bring their own. */
export interface Terminal {
  /** A person sits at stdin, and can be asked. */
  isAnswering: boolean
  /** A person reads stdout: lists are tables there, and JSON elsewhere. */
  isReading: boolean
  /** To stdout. */
  print(text: string): void
  /** To stderr. */
  complain(text: string): void
  /** Asks on stderr, so that stdout stays the command's own. @returns the answer; empty at the end of the input. */
  ask(question: string): Promise<string>
}

const ask = (question: string): Promise<string> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('close', () => resolve(''))
    lines.question(question, (answer) => {
      resolve(answer)
      lines.close()
    })
  })

export const processTerminal = (): Terminal => ({
  isAnswering: process.stdin.isTTY === true,
  isReading: process.stdout.isTTY === true,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  ask,
})

const terminals = new WeakMap<Command, Terminal>()

export const setTerminal = (program: Command, terminal: Terminal): void => {
  terminals.set(program, terminal)
}

/** The terminal of the program that a command is part of. */
export const terminalOf = (command: Command): Terminal =>
  command.parent ? terminalOf(command.parent) : (terminals.get(command) ?? processTerminal())
