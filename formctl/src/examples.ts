import type { Command } from 'commander'

/** Puts examples below a command's help, in its own words: each works as it stands, on things that exist. */
export const withExamples = (command: Command, ...examples: string[]): Command =>
  command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  $ formctl ${example}`).join('\n')}`,
  )

/** The id of an API key in examples. */
export const exampleKeyId = '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44'
