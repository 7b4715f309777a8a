import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { inspectDirectoryStore } from '@fms/directory-store'
import { inspectFormsStore } from '@fms/forms-store'
import { checkIntegrity, copySecurely, digestOf, storeFile, sync } from './files.ts'
import { type Manifest, readManifest } from './manifest.ts'
import type { BackupSource } from './write-backup.ts'

/**
 * Puts the files of a backup where the environment has them, after it has verified each one.
 *
 * @returns what the backup says of itself.
 * @throws {Error} where the backup is not whole, was made by a release that shuts this one out, or a file is there already; then no file
 *   is in place.
 */
export const restoreBackup = async (folder: string, target: BackupSource): Promise<Manifest> => {
  const manifest = readManifest(folder)
  const moves = Object.entries(manifest.files).map(([name, digest]) => {
    const to = placeOf(name, target)
    return { from: join(folder, name), unfinished: `${to}.restoring`, to, digest }
  })
  for (const { to } of moves) {
    if (existsSync(to)) throw new Error(`${to} exists. Set DATA_DIR to a folder without stores.`)
  }
  await checkReleases(folder)
  try {
    for (const { from, unfinished, digest } of moves) {
      await mkdir(dirname(unfinished), { recursive: true, mode: 0o700 })
      await copySecurely(from, unfinished)
      if ((await digestOf(unfinished)) !== digest) throw new Error(`${from} is not what was backed up.`)
      if (from.endsWith('.db')) checkIntegrity(unfinished)
    }
    for (const { unfinished, to } of moves) await rename(unfinished, to)
  } finally {
    for (const { unfinished } of moves) await rm(unfinished, { force: true })
  }
  for (const each of new Set(moves.map(({ to }) => dirname(to)))) await sync(each)
  return manifest
}

const placeOf = (name: string, { directory, forms, dataDir }: BackupSource): string => {
  if (name === 'directory.db') return storeFile(directory)
  return name === 'forms.db' ? storeFile(forms) : join(dataDir, name)
}

/** @throws {Error} for a store that this release may not use. */
const checkReleases = async (folder: string): Promise<void> => {
  for (const [name, inspect] of [
    ['directory.db', inspectDirectoryStore],
    ['forms.db', inspectFormsStore],
  ] as const) {
    const state = await inspect(`sqlite:${join(folder, name)}`)
    if (!state) throw new Error(`${join(folder, name)} is missing.`)
    if (state.oldestVersion > state.neededVersion) {
      throw new Error(`${join(folder, name)} was made by a newer release. Restore it with that one.`)
    }
  }
}
