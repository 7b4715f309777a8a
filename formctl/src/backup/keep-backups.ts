import { readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BackupSource,
  createFolder,
  isBackup,
  type Manifest,
  requireStores,
  syncToDisk,
  writeBackup,
} from './backup.ts'

/** Names of folders under a folder of backups: a time in UTC, such as `2026-11-23T02-30-00.000Z`. They sort by time. */
const name = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/

/** What a name begins with until its backup is complete and verified. */
const unfinished = 'unfinished-'
const isUnfinished = (each: string) => each.startsWith(unfinished) && name.test(each.slice(unfinished.length))

export interface KeptBackup {
  folder: string
  manifest: Manifest
  /** The folders of older backups that were deleted. */
  deleted: string[]
}

/**
 * Writes a backup to a new folder under `parent`, named by its time, and then deletes the oldest ones. One process at a time
 * uses a folder of backups: what an interrupted one has left is deleted.
 *
 * @param keep how many backups remain, the new one included; 1 or more.
 * @throws {Error} as {@link writeBackup}. Then no older backup is deleted.
 */
export const writeKeptBackup = async (
  source: BackupSource,
  parent: string,
  keep: number,
  now: Date,
): Promise<KeptBackup> => {
  requireStores(source)
  createFolder(parent)
  for (const each of readdirSync(parent)) {
    if (isUnfinished(each)) await rm(join(parent, each), { recursive: true })
  }
  const newName = now.toISOString().replaceAll(':', '-')
  const folder = join(parent, newName)
  const manifest = await writeBackup(source, join(parent, `${unfinished}${newName}`), now)
  await rename(join(parent, `${unfinished}${newName}`), folder)
  await syncToDisk(parent)
  // The new one may not be the newest: clocks are set back.
  const others = backupsIn(parent).filter((each) => each !== folder)
  const deleted = others.slice(0, Math.max(0, others.length + 1 - keep))
  for (const each of deleted) await rm(each, { recursive: true })
  return { folder, manifest, deleted }
}

/** The backup that a folder is, or the newest one that it has. @throws {Error} if there is none. */
export const newestBackup = (folder: string): string => {
  if (isBackup(folder)) return folder
  const newest = backupsIn(folder).at(-1)
  if (newest) return newest
  throw new Error(`There is no backup in ${folder}. Give the folder of a backup, or one that has backups.`)
}

/** The folders of backups, oldest first. */
const backupsIn = (parent: string): string[] =>
  readNames(parent)
    .filter((each) => name.test(each))
    .sort()
    .map((each) => join(parent, each))

const readNames = (folder: string): string[] => {
  try {
    return readdirSync(folder)
  } catch (cause) {
    throw new Error(`${folder} cannot be read: ${(cause as Error).message}.`, { cause })
  }
}
