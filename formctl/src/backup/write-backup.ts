import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { NamedStore } from '../stores/stores.ts'
import {
  checkIntegrity,
  copyPrivately,
  type Manifest,
  makePrivate,
  manifestFile,
  secretFiles,
  sha256Of,
  storeFile,
  syncToDisk,
} from './backup-files.ts'

export interface BackupSource {
  directory: NamedStore
  forms: NamedStore
  dataDir: string
}

/**
 * Copies both SQLite stores and the secrets of `npm start` into a new folder, and verifies the copies. Services may run.
 * Each copy is a snapshot. The forms are copied first, so that the directory contains all of their organizations.
 *
 * @throws {Error} if the folder exists, a store is not a SQLite file, or a copy is damaged. Then no folder remains.
 */
export const writeBackup = async (source: BackupSource, folder: string, now: Date): Promise<Manifest> => {
  const stores = { 'forms.db': storeFile(source.forms), 'directory.db': storeFile(source.directory) }
  for (const path of Object.values(stores)) {
    if (!existsSync(path))
      throw new Error(`There is no store at ${path}. Set DATA_DIR to the folder that holds it.`)
  }
  if (existsSync(folder)) throw new Error(`${folder} exists. Choose a new folder.`)
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(folder, { mode: 0o700 })
  try {
    for (const [name, path] of Object.entries(stores)) await copyStoreFile(path, join(folder, name))
    for (const name of secretFiles) {
      const path = join(source.dataDir, name)
      if (existsSync(path)) await copyPrivately(path, join(folder, name))
    }
    return await writeManifest(folder, now)
  } catch (error) {
    await rm(folder, { recursive: true })
    throw error
  }
}

const copyStoreFile = async (from: string, to: string): Promise<void> => {
  {
    using database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
    database.prepare('VACUUM INTO ?').run(to)
  }
  checkIntegrity(to)
  await makePrivate(to)
}

const writeManifest = async (folder: string, now: Date): Promise<Manifest> => {
  const names = ['directory.db', 'forms.db', ...secretFiles].filter((name) => existsSync(join(folder, name)))
  const digests = await Promise.all(names.map(async (name) => [name, await sha256Of(join(folder, name))]))
  const manifest: Manifest = {
    format: 'form-management backup 1',
    createTime: now.toISOString(),
    files: Object.fromEntries(digests),
  }
  const path = join(folder, manifestFile)
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  await syncToDisk(path)
  await syncToDisk(folder)
  return manifest
}
