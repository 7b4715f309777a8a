import { expect, vi } from 'vitest'
import { runFormctl } from '../formctl/src/testing/run-formctl.ts'

/** Runs formctl in this process, beside a system. @returns its JSON output. */
export const formctl = async (env: Record<string, string>, ...args: string[]) => {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const { code, stdout, stderr } = await runFormctl([...args, '--json']).finally(() => vi.unstubAllEnvs())
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
