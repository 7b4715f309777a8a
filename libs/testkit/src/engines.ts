import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { prepareEngine } from './mongodb.ts'
import { findNatsServer } from './nats-server.ts'

/**
 * Around a whole test run (vitest's globalSetup): installs the engine of MongoDB's suites, once for all workers, and
 * names in the last line the engines that the tests ran on.
 *
 * `startMongo` writes down what it found in the file that FMS_ENGINES_FILE names, tests of packages and of generated
 * clients which toolchains they used in the one that FMS_TOOLCHAINS_FILE names.
 */
export default async function nameEngines() {
  const folder = mkdtempSync(join(tmpdir(), 'engines-'))
  const file = join(folder, 'mongodb')
  const toolchains = join(folder, 'toolchains')
  process.env.FMS_ENGINES_FILE = file
  process.env.FMS_TOOLCHAINS_FILE = toolchains
  const refusal = await prepareEngine(process.env)
  return () => {
    process.stdout.write(`\nEngines: ${[sqlite(), nats(), mongodb(file)].join('; ')}.\n`)
    if (refusal) process.stdout.write(`secantusdb was not used for MongoDB's suites: ${refusal}.\n`)
    if (existsSync(toolchains)) process.stdout.write(readFileSync(toolchains, 'utf8'))
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

/** Every engine that was started, once. A run whose tests asked for none says so. */
function mongodb(file: string): string {
  try {
    const engines = new Set(readFileSync(file, 'utf8').trim().split('\n'))
    return `MongoDB suites on ${[...engines].join(', ')}`
  } catch {
    return 'MongoDB: no test of this run asked for one'
  }
}
