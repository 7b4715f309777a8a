import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { examples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import { type Check, fail, ok, reasonOf, warn } from '../doctor/check.ts'
import { checkEnvironment } from '../doctor/environment.ts'
import { checkNats } from '../doctor/nats.ts'
import { checkStores } from '../doctor/stores.ts'

export const addDoctorCommand = (formctl: Command): void => {
  formctl
    .command('doctor')
    .description('check configuration, stores, NATS, clocks and disk, and print what to do')
    .action(async function (this: Command) {
      const checks = await runChecks(process.env)
      const failures = checks.filter(({ status }) => status === 'fail').length
      printOutcome(this, { json: { ok: failures === 0, checks }, text: report(checks) })
      if (failures > 0) throw new Error(`${failures} of ${checks.length} checks failed.`)
    })
    .addHelpText(...examples('doctor', 'doctor --json'))
}

const report = (checks: Check[]): string => {
  const width = Math.max(...checks.map(({ check }) => check.length))
  return checks
    .flatMap(({ status, check, message, advice }) => {
      const line = `${status.padEnd(4)}  ${check.padEnd(width)}  ${message}`
      return advice ? [line, `${' '.repeat(width + 8)}→ ${advice}`] : [line]
    })
    .join('\n')
}

/** Checks configuration, disk, stores and NATS, without changes. */
const runChecks = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const environment = checkEnvironment(env)
  const checks = await Promise.all([
    checkVersions(),
    environment,
    usesDataDir(env) ? checkDisk(env.DATA_DIR || '.data') : [],
    checkStores(env),
    environment.message.includes('NATS_URL must')
      ? fail('nats', 'not checked: NATS_URL is invalid', 'Correct NATS_URL first.')
      : checkNats(env),
  ]).catch((error) => [environment, fail('doctor', reasonOf(error), 'Report this as a defect.')])
  return checks.flat()
}

const checkVersions = (): Check =>
  ok('versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, ${process.platform}`)

const usesDataDir = ({ DIRECTORY_STORE_URL, FORMS_STORE_URL, NATS_URL }: NodeJS.ProcessEnv): boolean =>
  !(DIRECTORY_STORE_URL && FORMS_STORE_URL && NATS_URL)

const mebibyte = 1024 ** 2
const warnMiB = 1024
const failMiB = 100

const checkDisk = async (dataDir: string): Promise<Check> => {
  try {
    const { bavail, bsize } = await statfs(nearestFolder(resolve(dataDir)))
    return checkFreeSpace(dataDir, (bavail * bsize) / mebibyte)
  } catch (error) {
    return fail('disk', reasonOf(error), `Set DATA_DIR to a readable folder; it is ${dataDir}.`)
  }
}

export const checkFreeSpace = (dataDir: string, freeMiB: number): Check => {
  const message = `${Math.floor(freeMiB).toLocaleString('en')} MiB are free for ${dataDir}`
  const advice = 'Free some space, or move DATA_DIR to a larger disk. On a full disk, writes fail with 503.'
  if (freeMiB < failMiB) return fail('disk', message, advice)
  return freeMiB < warnMiB ? warn('disk', message, advice) : ok('disk', message)
}

/** The folder itself, or its nearest parent that exists. */
const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))
