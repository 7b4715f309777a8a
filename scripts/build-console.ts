import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')

/** What the build depends on, relative to the repository. */
export const sources = [
  'console/index.html',
  'console/form.html',
  'console/vite.config.ts',
  'console/package.json',
  'console/src',
  'libs/client/src',
  'libs/contracts/src',
]

/**
 * Builds the console if it is missing or older than its sources. Safe to run concurrently. Returns false if the
 * development dependencies are not installed: an existing build stays as it is.
 */
export const buildConsole = async (dist = join(root, 'console/dist')): Promise<boolean> => {
  if (isCurrent(dist)) return true
  const vite = findVite()
  if (vite === undefined) return false
  removeLeftovers()
  const folder = mkdtempSync(join(root, 'node_modules/.console-'))
  try {
    const args = [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error']
    await promisify(execFile)(process.execPath, args, { cwd: join(root, 'console') })
    if (!isCurrent(dist)) replace(dist, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return true
}

/** Removes what interrupted builds have left. A build takes seconds. */
const removeLeftovers = (): void => {
  const hourAgoMs = Date.now() - 3_600_000
  for (const folder of globSync(join(root, 'node_modules/.console-*'))) {
    const { mtimeMs = hourAgoMs } = statSync(folder, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs < hourAgoMs) rmSync(folder, { recursive: true, force: true })
  }
}

const isCurrent = (dist: string): boolean => {
  const page = join(dist, 'index.html')
  return (
    existsSync(page) && sources.every((source) => newestTime(join(root, source)) <= statSync(page).mtimeMs)
  )
}

/** Milliseconds since the epoch. A folder's own time changes when files are added or removed. */
const newestTime = (path: string): number => {
  const status = statSync(path)
  if (!status.isDirectory()) return status.mtimeMs
  return Math.max(status.mtimeMs, ...readdirSync(path).map((name) => newestTime(join(path, name))))
}

const findVite = (): string | undefined => {
  try {
    const manifest = createRequire(join(root, 'console/package.json')).resolve('vite/package.json')
    return join(dirname(manifest), 'bin/vite.js')
  } catch {
    return undefined
  }
}

const replace = (dist: string, built: string): void => {
  rmSync(dist, { recursive: true, force: true })
  try {
    renameSync(built, dist)
  } catch (error) {
    // Another process has just moved its build there, which is the same.
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code!)) throw error
  }
}
