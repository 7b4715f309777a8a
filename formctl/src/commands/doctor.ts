import type { Command } from 'commander'
import { addExamples } from '../cli/examples.ts'
import { printOutcome } from '../cli/outcome.ts'
import type { Check } from '../doctor/check.ts'
import { runChecks } from '../doctor/run-checks.ts'

export const addDoctorCommand = (formctl: Command): void => {
  const doctor = formctl
    .command('doctor')
    .description('check configuration, stores, NATS, clocks and disk, and print what to do')
    .action(async function (this: Command) {
      const checks = await runChecks(process.env)
      const failures = checks.filter(({ status }) => status === 'fail').length
      printOutcome(this, { json: { ok: failures === 0, checks }, text: report(checks) })
      if (failures > 0) throw new Error(`${failures} of ${checks.length} checks failed.`)
    })
  addExamples(doctor, 'doctor', 'doctor --json')
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
