import { accessSync, constants, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '@fms/store-kit'
import { readIfExists } from '@fms/testkit/secret-file'

/** Free bytes that the stores need to open: their locks and write-ahead logs. */
const minFreeBytes = 1024 ** 2

/** `SQLITE_BUSY`. */
const busyCode = 5

/** Keeps locks referenced: a lock ends when its object is garbage-collected. */
const locks = new Set<DatabaseSync>()

/**
 * Locks `dataDir` for this process, and creates it if it is missing.
 *
 * The lock is SQLite's: the kernel releases it when this process ends, even after `kill -9`, so a lock is never stale.
 *
 * @throws {Error} with the process id of the other `npm start` if one holds the lock; if the folder cannot be used.
 */
export function lockDataDir(dataDir: string): void {
  createFolder(dataDir)
  const pidFile = join(dataDir, 'start.pid')
  try {
    const lock = new DatabaseSync(join(dataDir, 'start.lock'), { timeout: 0 })
    locks.add(lock)
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
  } catch (cause) {
    const { message, errcode } = cause as Error & { errcode?: number }
    throw new Error(
      errcode === busyCode
        ? `Another npm start (process ${readIfExists(pidFile) ?? 'unknown'}) runs on ${dataDir}. Stop it, or set DATA_DIR to another folder.`
        : `${dataDir}/start.lock cannot be locked (${message}). Run npm start as the user that owns this file. If it is damaged, delete it while no npm start runs.`,
      { cause },
    )
  }
  writeFileSync(pidFile, `${process.pid}`)
}

function createFolder(dataDir: string): void {
  try {
    makeFolder(dataDir, 0o700)
    // With `/.`, a file is an error, too.
    accessSync(`${dataDir}/.`, constants.R_OK | constants.W_OK)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`DATA_DIR cannot be created or written (${message}). Set DATA_DIR to another folder.`, {
      cause,
    })
  }
  const { bavail, bsize } = statfsSync(dataDir)
  if (bavail * bsize >= minFreeBytes) return
  throw new Error(`The disk of ${dataDir} is full. Free some room, or set DATA_DIR to another folder.`)
}
