/**
 * Runs a program of the command line: prints `usage` when `--help` is given, otherwise runs `work`. Prints the message
 * of an error and sets the exit code to 1.
 */
export const runCommand = async (name: string, usage: string, work: () => Promise<void>): Promise<void> => {
  try {
    if (process.argv.includes('--help')) process.stdout.write(usage)
    else await work()
  } catch (error) {
    process.stderr.write(`${name}: ${messageOf(error)}\n`)
    process.exitCode = 1
  }
}

/** The message of the first error. Errors of the cleanup that followed it are left out. */
const messageOf = (error: unknown): string => {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : `${error}`
}
