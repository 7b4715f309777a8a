import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Locks end with their object, so the garbage collector must not have them. */
const locks = new Set<DatabaseSync>()

/**
 * Takes `dataDir` for this process alone, and makes it when it is missing.
 *
 * The lock is SQLite's: the kernel frees it when this process ends, however it ends, so none is ever stale.
 *
 * @throws {Error} with the other one's process id when another `npm start` has it.
 */
export function takeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const pidFile = join(dataDir, 'start.pid')
  const lock = new DatabaseSync(join(dataDir, 'start.lock'), { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const other = keptText(pidFile) ?? 'unknown'
    throw new Error(
      `Another npm start (process ${other}) runs on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
      { cause },
    )
  }
  locks.add(lock)
  writeFileSync(pidFile, `${process.pid}`)
}

/** What `file` keeps. The first call makes it, readable by its owner alone, whole or not at all. */
export function keepSecret(file: string, make: () => string): string {
  const kept = keptText(file)
  if (kept) return kept
  const made = make()
  replaceSecret(file, made)
  return made
}

/** Writes what `file` keeps, readable by its owner alone, whole or not at all. */
export function replaceSecret(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

function keptText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
