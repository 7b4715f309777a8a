import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '@fms/store-kit'
import { readIfExists } from '@fms/testkit/secret-file'

/** Keeps locks referenced: a lock ends when its object is garbage-collected. */
const locks = new Set<DatabaseSync>()

/**
 * Locks `dataDir` for this process, and creates it if it is missing.
 *
 * The lock is SQLite's: the kernel releases it when this process ends, even after `kill -9`, so a lock is never stale.
 *
 * @throws {Error} with the process id of the other `npm start` if one holds the lock; if the folder cannot be created.
 */
export function lockDataDir(dataDir: string): void {
  createFolder(dataDir)
  const pidFile = join(dataDir, 'start.pid')
  const lock = new DatabaseSync(join(dataDir, 'start.lock'), { timeout: 0 })
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const other = readIfExists(pidFile) ?? 'unknown'
    throw new Error(
      `Another npm start (process ${other}) runs on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
      { cause },
    )
  }
  locks.add(lock)
  writeFileSync(pidFile, `${process.pid}`)
}

function createFolder(dataDir: string): void {
  try {
    makeFolder(dataDir, 0o700)
    readdirSync(dataDir)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`DATA_DIR cannot be created or read (${message}). Set DATA_DIR to another folder.`, {
      cause,
    })
  }
}
