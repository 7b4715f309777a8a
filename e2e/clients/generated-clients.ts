import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { environmentWithoutNpm } from '@fms/testkit/toolchains'
import type { System } from '../system.ts'

const tools = join(import.meta.dirname, '../../tools/generated-clients')

/** A copy of one folder of tools/generated-clients, with the system's OpenAPI document. */
export interface GeneratedClient extends Disposable {
  folder: string
  /** Path of the document. */
  openApi: string
  /** Runs a program in the folder. @returns its stdout. @throws {Error} when its exit code is not 0. */
  run(program: string, parameters: string[], env?: NodeJS.ProcessEnv): Promise<string>
  /** Runs the program of the form's lifecycle in a new organization with three other forms. @returns its JSON output. */
  runLifecycle(program: string, parameters: string[]): Promise<unknown>
}

/** The expected output of the programs. */
export const expectedLifecycle = {
  buttonRadiusPx: 4.5,
  patched: 'Patched',
  stale: 412,
  live: true,
  names: ['Form 1', 'Form 2', 'Form 3', 'Generated'],
  deleted: 200,
}

export const prepareClient = async (system: System, language: string): Promise<GeneratedClient> => {
  const folder = mkdtempSync(join(tmpdir(), `generated-${language}-`))
  cpSync(join(tools, language), folder, { recursive: true })
  const openApi = join(folder, 'openapi.json')
  writeFileSync(openApi, await (await fetch(`${system.baseUrl}/openapi.json`)).text())

  const run: GeneratedClient['run'] = async (program, parameters, env = {}) => {
    const options = { cwd: folder, env: { ...environmentWithoutNpm(), ...env }, maxBuffer: 2 ** 24 }
    return (await promisify(execFile)(program, parameters, options)).stdout
  }
  return {
    folder,
    openApi,
    run,
    runLifecycle: async (program, parameters) => {
      const account = await system.account()
      for (const name of ['Form 1', 'Form 2', 'Form 3']) {
        await system.call(account, 'POST', account.forms, { form: { name } })
      }
      const env = { BASE_URL: system.baseUrl, API_KEY: account.apiKey, ORGANIZATION: account.slug }
      return JSON.parse(await run(program, parameters, env))
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}
