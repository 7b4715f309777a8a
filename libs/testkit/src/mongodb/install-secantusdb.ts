import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const root = join(import.meta.dirname, '../../../..')
const requirements = join(root, 'tools/mongodb-for-tests/requirements.txt')

/** Exits with 0 if Python's pip can install into another environment (`--python`). */
const versionCheck =
  'import sys, venv, pip; sys.exit(sys.version_info < (3, 11) or tuple(map(int, pip.__version__.split(".")[:2])) < (22, 3))'

/** pip gives up within seconds without a network. The caller's environment overrides these settings. */
const pipDefaults = { PIP_DEFAULT_TIMEOUT: '5', PIP_RETRIES: '0' }

/** The version in requirements.txt. */
export const secantusVersion = (): string =>
  /^secantusdb==(\S+)/m.exec(readFileSync(requirements, 'utf8'))![1]!

/** The Python interpreter that has secantusdb; undefined before it is installed. */
export const installedSecantusDb = (): string | undefined => {
  const python = interpreterOf(environment())
  return existsSync(python) ? python : undefined
}

/**
 * Installs secantusdb in a virtual environment under `node_modules/.cache`, unless it is installed. Safe to call from
 * concurrent processes: each prepares its own folder, and the first folder is used.
 *
 * @param folder of the virtual environment.
 * @returns the Python interpreter of the environment.
 * @throws {Error} that says why it cannot be installed.
 */
export async function installSecantusDb(env: NodeJS.ProcessEnv, folder = environment()): Promise<string> {
  if (existsSync(interpreterOf(folder))) return interpreterOf(folder)
  const unfinished = `${folder}.${process.pid}`
  try {
    await requirePython(env)
    process.stderr.write(
      'Installing secantusdb for the tests; this happens once and takes about half a minute ...\n',
    )
    await install(unfinished, env)
    renameUnlessInstalled(unfinished, folder)
    return interpreterOf(folder)
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
}

/** The folder's name contains a digest of the requirements, so that a new release is installed beside the old one. */
const environment = () => {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  return join(root, 'node_modules/.cache', `secantusdb-${digest.slice(0, 12)}`)
}

const interpreterOf = (folder: string) => join(folder, 'bin/python')

const requirePython = (env: NodeJS.ProcessEnv) =>
  run('python3', ['-c', versionCheck], { env }).catch(() => {
    throw new Error('no Python 3.11 with pip 22.3 or newer is on the PATH')
  })

const install = async (folder: string, env: NodeJS.ProcessEnv) => {
  const unattended = ['--disable-pip-version-check', '--no-input']
  const pinned = ['--require-hashes', '--only-binary', ':all:', '-r', requirements]
  try {
    await run('python3', ['-m', 'venv', '--without-pip', folder], { env })
    const pip = ['-m', 'pip', '--python', interpreterOf(folder), 'install', ...unattended, ...pinned]
    const installing = run('python3', pip, { env: { ...pipDefaults, ...env } })
    // Several lines for each package. Errors are in stderr.
    installing.child.stdout!.pipe(process.stderr, { end: false })
    await installing
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`pip cannot install it: ${(stderr || message).trim().split('\n').at(-1)}`, {
      cause: error,
    })
  }
}

/** Renames the finished folder, unless another process has installed secantusdb in the meantime. */
const renameUnlessInstalled = (finished: string, folder: string) => {
  try {
    renameSync(finished, folder)
  } catch (error) {
    if (!existsSync(interpreterOf(folder))) throw error
  }
}
