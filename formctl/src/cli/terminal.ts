import { createInterface } from 'node:readline'

/** Input and output of a command line. Tests pass their own. */
export interface Terminal {
  /** Whether stdin is a terminal, so that a person can respond to a prompt. */
  isInputTty: boolean
  /** Whether stdout is a terminal: lists are tables there, and JSON elsewhere. */
  isOutputTty: boolean
  /** Writes to stdout. Whoever writes much awaits it: a slow reader would fill the memory. */
  print(text: string): Promise<void> | void
  printError(text: string): void
  /** Writes `text` to stderr and reads a line from stdin. @returns the line; empty at the end of the input. */
  prompt(text: string): Promise<string>
}

/** Replaces control characters, which could control the terminal. */
export const withoutControlCharacters = (text: string) => text.replace(/\p{Cc}/gu, '\ufffd')

const prompt = (text: string): Promise<string> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr })
    lines.once('close', () => resolve(''))
    lines.question(text, (line) => {
      resolve(line)
      lines.close()
    })
  })

export const processTerminal = (): Terminal => ({
  isInputTty: process.stdin.isTTY === true,
  isOutputTty: process.stdout.isTTY === true,
  print: (text) => new Promise((resolve) => process.stdout.write(text, () => resolve())),
  printError: (text) => void process.stderr.write(text),
  prompt,
})
