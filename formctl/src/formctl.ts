#!/usr/bin/env node
import { withoutBlanks } from '@fms/service-kit/settings'
import { run } from './run.ts'

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  // Not a failure: a reader such as head has closed the pipe.
  if (code === 'EPIPE') process.exit(0)
  process.stderr.write(`error: The output could not be written (${message}). Changes may have been made.\n`)
  process.exit(1)
})
// The work goes on without a reader of its progress.
process.stderr.on('error', () => {})

// Stores, exports and backups contain the data of organizations: only the owner can read the files that formctl creates.
process.umask(0o077)

process.env = withoutBlanks(process.env)

process.exitCode = await run(process.argv.slice(2))

// After all output: a connection to a server that accepts it and then hangs would keep the process alive.
process.stdout.write('', () => setTimeout(() => process.exit(), 500).unref())
