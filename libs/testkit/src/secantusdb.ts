import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const root = join(import.meta.dirname, '../../..')
const requirements = join(root, 'tools/mongodb-for-tests/requirements.txt')

/** Exits with 0 where Python has a pip that can install into another environment (`--python`). */
const suitable =
  'import sys, venv, pip; sys.exit(sys.version_info < (3, 11) or tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))'

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
 * @param folder of the environment.
 * @returns the interpreter of the environment.
 * @throws {Error} that says why it cannot be installed.
 */
export async function installSecantusDb(env: NodeJS.ProcessEnv, folder = environment()): Promise<string> {
  if (existsSync(interpreterOf(folder))) return interpreterOf(folder)
  const unfinished = `${folder}.${process.pid}`
  try {
    await demandPython(env)
    process.stderr.write(
      'Installing secantusdb for the tests; this is done once and takes about half a minute ...\n',
    )
    await install(unfinished, env)
    moveUnlessThere(unfinished, folder)
    return interpreterOf(folder)
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
    throw new Error('no Python 3.11 with pip 22.3 or newer is on the PATH')
  })

const install = async (folder: string, env: NodeJS.ProcessEnv) => {
  const quietly = ['--quiet', '--disable-pip-version-check', '--no-input']
  const pinned = ['--require-hashes', '--only-binary', ':all:', '-r', requirements]
  try {
    await run('python3', ['-m', 'venv', '--without-pip', folder], { env })
    await run('python3', ['-m', 'pip', '--python', interpreterOf(folder), 'install', ...quietly, ...pinned], {
      env: { ...pipDefaults, ...env },
    })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`pip cannot install it: ${(stderr || message).trim().split('\n').at(-1)}`, {
      cause: error,
    })
  }
}

/** Another process may have been faster. */
const moveUnlessThere = (finished: string, folder: string) => {
  try {
    renameSync(finished, folder)
  } catch (error) {
    if (!existsSync(interpreterOf(folder))) throw error
  }
}
