import { existsSync } from 'node:fs'
import { readFile, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { BackupNote, backupNoteFile, maxBackupAgeHours } from '@fms/contracts'
import { lowBytes, reservedBytes } from '@fms/store-kit'
import { dataDir, storeUrls } from '../stores/open-stores.ts'
import { fileOf } from '../stores/require-store.ts'
import { type Check, fail, ok, reasonOf, warn } from './check.ts'

/** Checks the disks of SQLite stores and of the NATS of `npm start`, and the age of the last backup of the forms. */
export const checkDataDir = async (env: NodeJS.ProcessEnv): Promise<Check[]> => {
  const urls = storeUrls(env)
  const [directory, forms] = [fileOf({ url: urls.directory }), fileOf({ url: urls.forms })]
  const folders = [directory, forms].filter((file) => file !== undefined).map((file) => dirname(file))
  if (!env.NATS_URL) folders.push(resolve(dataDir(env)))
  return Promise.all([
    ...[...new Set(folders)].map(checkDisk),
    ...(forms !== undefined && existsSync(forms) ? [checkBackup(dirname(forms))] : []),
  ])
}

const checkDisk = async (folder: string): Promise<Check> => {
  try {
    const { bavail, bsize } = await statfs(nearestFolder(folder))
    return checkFreeSpace(folder, bavail * bsize)
  } catch (error) {
    return fail('disk', reasonOf(error), `Set DATA_DIR to a readable folder; it is ${folder}.`)
  }
}

const mebibyte = 1024 ** 2
const inMebibytes = (bytes: number) => `${Math.floor(bytes / mebibyte).toLocaleString('en')} MiB`

export const checkFreeSpace = (folder: string, freeBytes: number): Check => {
  const message = `${inMebibytes(freeBytes)} are free for ${folder}`
  const advice = `Free some space, or move the folder to a larger disk. With ${inMebibytes(reservedBytes)} or less, writes get 503 STORAGE_FULL.`
  if (freeBytes <= reservedBytes) return fail('disk', message, advice)
  return freeBytes < lowBytes ? warn('disk', message, advice) : ok('disk', message)
}

/** The folder itself, or its nearest parent that exists. */
const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))

const checkBackup = async (folder: string): Promise<Check> => {
  const path = join(folder, backupNoteFile)
  if (!existsSync(path)) return backupCheck(undefined, new Date())
  try {
    return backupCheck(BackupNote.parse(JSON.parse(await readFile(path, 'utf8'))), new Date())
  } catch {
    return warn('backup', `${path} cannot be read`, 'Run formctl backup, which writes it again.')
  }
}

const hourMs = 3_600_000

/** @param note of the last good backup, if there is one. */
export const backupCheck = (note: BackupNote | undefined, now: Date): Check => {
  const advice =
    'Run formctl backup FOLDER --keep 7 every day, by a timer (deploy/systemd), and read why it failed.'
  if (!note) return warn('backup', 'formctl backup has never succeeded here', advice)
  const hours = (now.getTime() - Date.parse(note.createTime)) / hourMs
  const message = `the last good one is of ${note.createTime}, in ${note.folder}`
  if (hours < 0) return warn('backup', `${message}: in the future`, 'Set the clock, then make a new backup.')
  if (hours <= maxBackupAgeHours) return ok('backup', message)
  return warn('backup', `${message}: more than ${maxBackupAgeHours} hours ago`, advice)
}
