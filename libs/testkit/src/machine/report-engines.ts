import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mongodbSuites } from '../mongodb/mongodb-suites.ts'
import { prepareEngine } from '../mongodb.ts'
import { findNatsServer } from '../nats-server.ts'
import { findChromium } from './find-chromium.ts'

/**
 * Vitest's globalSetup: installs the engine of the MongoDB suites before the workers start, and prints the engines and
 * toolchains that the tests used after they end, and the suites that were skipped.
 *
 * Workers report through files: `startMongo` appends its engine to `FMS_ENGINES_FILE`, `reportToolchain` a line to
 * `FMS_TOOLCHAINS_FILE`.
 */
export default async function reportEngines() {
  const folder = mkdtempSync(join(tmpdir(), 'engines-'))
  const file = join(folder, 'mongodb')
  const toolchains = join(folder, 'toolchains')
  process.env.FMS_ENGINES_FILE = file
  process.env.FMS_TOOLCHAINS_FILE = toolchains
  const failure = await prepareEngine(process.env)
  return () => {
    process.stdout.write(`\nEngines: ${[sqlite(), nats(), mongodb(file), browser()].join('; ')}.\n`)
    if (failure) process.stdout.write(`${skippedSuites(failure)}\n`)
    if (existsSync(toolchains)) process.stdout.write(uniqueLines(toolchains).join('\n'))
    rmSync(folder, { recursive: true })
  }
}

function sqlite(): string {
  return `SQLite ${process.versions.sqlite} (node:sqlite of Node ${process.versions.node})`
}

function nats(): string {
  try {
    const { version, source } = findNatsServer()
    return `nats-server ${version} (${source})`
  } catch {
    return 'no nats-server'
  }
}

function browser(): string {
  const chromium = findChromium()
  return chromium
    ? `Chromium: ${chromium}`
    : 'no Chromium, so npm test leaves out the tests of the console in a browser'
}

/** Every engine that was started, without duplicates. */
const mongodb = (file: string): string =>
  existsSync(file)
    ? `MongoDB suites on ${uniqueLines(file).filter(Boolean).join(', ')}`
    : 'MongoDB: not used by the tests of this run'

const skippedSuites = (failure: string): string =>
  [
    `There is no MongoDB to test on (${failure}). Skipped:`,
    ...mongodbSuites(),
    'the project "on MongoDB"',
  ].join('\n- ')

const uniqueLines = (file: string): string[] => [...new Set(readFileSync(file, 'utf8').split('\n'))]
