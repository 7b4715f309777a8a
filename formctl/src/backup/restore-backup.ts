import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inspectDirectoryStore } from '@fms/directory-store'
import { inspectFormsStore } from '@fms/forms-store'
import {
  checkIntegrity,
  copyPrivately,
  type Manifest,
  readManifest,
  sha256Of,
  storeFile,
  syncToDisk,
} from './backup-files.ts'
import type { BackupSource } from './write-backup.ts'

/**
 * Copies the files of a backup to the paths of the environment, after verifying each file.
 *
 * @returns the manifest of the backup.
 * @throws {Error} if the backup is incomplete, needs a newer release, or a target file exists. Then no file is restored.
 */
export const restoreBackup = async (folder: string, target: BackupSource): Promise<Manifest> => {
  const manifest = readManifest(folder)
  const moves = Object.entries(manifest.files).map(([name, digest]) => {
    const to = targetPathOf(name, target)
    return { from: join(folder, name), unfinished: `${to}.restoring`, to, digest }
  })
  for (const { to } of moves) {
    if (existsSync(to)) throw new Error(`${to} exists. Set DATA_DIR to a folder without stores.`)
  }
  await checkReleases(folder)
  try {
    for (const { from, unfinished, digest } of moves) {
      await mkdir(dirname(unfinished), { recursive: true, mode: 0o700 })
      await copyPrivately(from, unfinished)
      if ((await sha256Of(unfinished)) !== digest) throw new Error(`${from} has changed since the backup.`)
      if (from.endsWith('.db')) checkIntegrity(unfinished)
    }
    for (const { unfinished, to } of moves) await rename(unfinished, to)
  } finally {
    for (const { unfinished } of moves) await rm(unfinished, { force: true })
  }
  for (const each of new Set(moves.map(({ to }) => dirname(to)))) await syncToDisk(each)
  return manifest
}

const targetPathOf = (name: string, { directory, forms, dataDir }: BackupSource): string => {
  if (name === 'directory.db') return storeFile(directory)
  return name === 'forms.db' ? storeFile(forms) : join(dataDir, name)
}

/** @throws {Error} for a store whose schema needs a newer release. */
const checkReleases = async (folder: string): Promise<void> => {
  for (const [name, inspect] of [
    ['directory.db', inspectDirectoryStore],
    ['forms.db', inspectFormsStore],
  ] as const) {
    const state = await inspect(`sqlite:${join(folder, name)}`)
    if (!state) throw new Error(`${join(folder, name)} is missing.`)
    if (state.oldestVersion > state.neededVersion) {
      throw new Error(`${join(folder, name)} needs a newer release. Restore it with that release.`)
    }
  }
}
