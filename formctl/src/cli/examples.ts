/** Examples for the help of a command, as parameters of `addHelpText`. A test runs each. @param lines without `formctl`. */
export const examples = (...lines: string[]): ['after', string] => [
  'after',
  `\nExamples:\n${lines.map((line) => `  $ formctl ${line}`).join('\n')}`,
]

/** The id of an API key in examples; the test replaces it. */
export const exampleKeyId = '5b0f3a52-6c1e-4f0e-9d3c-0a8d1f7b2c44'

/** The public id of a deleted form in examples. */
export const exampleDeletedForm = 'k3JxV9bQ2a'

/** The public id of a form in examples. */
export const exampleForm = 'Qx7Lm2RtZ0'
