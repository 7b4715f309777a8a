import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { keptText } from '@fms/testkit/keep-secret'

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
