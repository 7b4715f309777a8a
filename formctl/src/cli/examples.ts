import type { Command } from 'commander'

/** Adds examples to a command's help. A test runs each of them. @param examples command lines without `formctl`. */
export const addExamples = (command: Command, ...examples: string[]): Command =>
  command.addHelpText(
    'after',
    `\nExamples:\n${examples.map((example) => `  $ formctl ${example}`).join('\n')}`,
  )

/** The id of an API key in examples; the test replaces it. */
export const exampleKeyId = '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44'

/** The public id of a deleted form in examples. */
export const exampleDeletedForm = 'k3JxV9bQ2a'

/** The public id of a form in examples. */
export const exampleForm = 'Qx7Lm2RtZ0'
