import { expect } from 'vitest'
import { runFormctlWith } from '../formctl/src/testing/run-formctl.ts'

/** Runs formctl in this process, beside a system. @returns its JSON output. */
export const formctl = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
  const { code, stdout, stderr } = await runFormctlWith(env, [...args, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
