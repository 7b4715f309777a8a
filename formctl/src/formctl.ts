#!/usr/bin/env node
import { run } from './run.ts'

// A reader that has seen enough, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

// Stores, exports and backups hold the data of organizations: only their owner reads the files that formctl makes.
process.umask(0o077)

process.exitCode = await run(process.argv.slice(2))
