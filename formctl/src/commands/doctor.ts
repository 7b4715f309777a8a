import type { Command } from '../cli/command.ts'
import { printOutcome } from '../cli/outcome.ts'
import { type Check, fail, ok, reasonOf } from '../doctor/check.ts'
import { checkDataDir } from '../doctor/data-dir.ts'
import { checkEdge } from '../doctor/edge.ts'
import { checkEnvironment } from '../doctor/environment.ts'
import { checkStores } from '../doctor/stores.ts'

export const addDoctorCommand = (formctl: Command): void => {
  formctl
    .command('doctor')
    .description('check configuration, disk, backup, stores, NATS and clocks, and print what to do')
    .action(async function (this: Command) {
      const checks = await runChecks(process.env)
      const failures = checks.filter(({ status }) => status === 'fail').length
      printOutcome(this, { json: { ok: failures === 0, checks }, text: report(checks) })
      if (failures > 0) throw new Error(`${failures} of ${checks.length} checks failed.`)
    })
    .examples('doctor', 'doctor --json')
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

/** Checks configuration, disk, backup, stores and NATS, without changes. Only this command loads the client of NATS. */
const runChecks = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const environment = checkEnvironment(env)
  const checks = await Promise.all([
    checkVersions(),
    environment,
    checkEdge(env),
    checkDataDir(env),
    checkStores(env),
    environment.message.includes('NATS_URL must')
      ? fail('nats', 'not checked: NATS_URL is invalid', 'Correct NATS_URL first.')
      : import('../doctor/nats.ts').then(({ checkNats }) => checkNats(env)),
  ]).catch((error) => [environment, fail('doctor', reasonOf(error), 'Report this as a defect.')])
  return checks.flat()
}

const checkVersions = (): Check =>
  ok('versions', `Node ${process.versions.node}, SQLite ${process.versions.sqlite}, ${process.platform}`)
