import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const root = join(import.meta.dirname, '../../../..')
const requirements = join(root, 'tools/mongodb-for-tests/requirements.txt')

/** Exits with 0 where Python can make the virtual environment that {@link requirements} is written for. */
const suitable = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'

/** pip gives up within seconds where there is no network. The caller's own settings come first. */
const pipDefaults = { PIP_DEFAULT_TIMEOUT: '5', PIP_RETRIES: '0' }

/** The version that the requirements pin. */
export const secantusVersion = (): string =>
  /^secantusdb==(\S+)/m.exec(readFileSync(requirements, 'utf8'))![1]!

/** The interpreter of the virtual environment, where it is installed; undefined elsewhere. */
export const installedSecantusDb = (): string | undefined => {
  const python = interpreterOf(environment())
  return existsSync(python) ? python : undefined
}

/**
 * Installs secantusdb in a virtual environment under `node_modules/.cache`, unless it is installed. Processes may do so
 * at once: each prepares a folder of its own, and the first one is used.
 *
 * @returns the interpreter of the environment.
 * @throws {Error} that says why it cannot be installed.
 */
export async function installSecantusDb(env: NodeJS.ProcessEnv): Promise<string> {
  const installed = installedSecantusDb()
  if (installed) return installed
  const unfinished = `${environment()}.${process.pid}`
  try {
    await demandPython(env)
    process.stderr.write(
      'Installing secantusdb for the tests; this is done once and takes about half a minute ...\n',
    )
    await install(unfinished, env)
    return interpreterOf(inPlace(unfinished))
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** Changes with the requirements, so that a new release is installed beside the old one. */
const environment = () => {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  return join(root, 'node_modules/.cache', `secantusdb-${digest.slice(0, 12)}`)
}

const interpreterOf = (folder: string) => join(folder, 'bin/python')

const demandPython = (env: NodeJS.ProcessEnv) =>
  run('python3', ['-c', suitable], { env }).catch(() => {
    throw new Error('no Python 3.11 or newer with venv is on the PATH')
  })

const install = async (folder: string, env: NodeJS.ProcessEnv) => {
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input']
  try {
    await run('python3', ['-m', 'venv', folder], { env })
    await run(
      interpreterOf(folder),
      [...pip, '--require-hashes', '--only-binary', ':all:', '-r', requirements],
      { env: { ...pipDefaults, ...env } },
    )
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`pip cannot install it: ${(stderr || message).trim().split('\n').at(-1)}`, {
      cause: error,
    })
  }
}

/** Moves a finished environment to where all look for it, unless another process was faster. */
const inPlace = (finished: string) => {
  const folder = environment()
  try {
    renameSync(finished, folder)
  } catch (error) {
    if (!existsSync(interpreterOf(folder))) throw error
  }
  return folder
}
