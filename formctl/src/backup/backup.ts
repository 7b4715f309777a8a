import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, copyFile, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { Timestamp } from '@fms/contracts'
import { inspectDirectoryStore } from '@fms/directory-store'
import { inspectFormsStore } from '@fms/forms-store'
import { makeFolder, restoringPath } from '@fms/store-kit'
import { z } from 'zod'
import { Interruption } from '../bulk/interruption.ts'
import { fileOf, type NamedStore, requireStore } from '../stores/require-store.ts'

export interface BackupSource {
  directory: NamedStore
  forms: NamedStore
  dataDir: string
}

/** Creates a folder and those above, for the owner only. @throws {Error} that names it. */
export const createFolder = (folder: string): void => {
  try {
    makeFolder(folder, 0o700)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${folder} cannot be created (${message}). Choose another folder.`, { cause })
  }
}

/**
 * Copies both SQLite stores and the secrets of `npm start` into a new folder, and verifies the copies. Services may run.
 * Each copy is a snapshot. The forms are copied first, so that the directory contains all of their organizations.
 *
 * @throws {Error} if the folder exists, a store is not a SQLite file, or a copy is damaged. Then no folder remains.
 */
export const writeBackup = async (source: BackupSource, folder: string, now: Date): Promise<Manifest> => {
  const stores = { 'forms.db': storeFile(source.forms), 'directory.db': storeFile(source.directory) }
  requireStores(source)
  if (existsSync(folder)) throw new Error(`${folder} exists. Choose a new folder.`)
  using interruption = new Interruption()
  createFolder(dirname(folder))
  await mkdir(folder, { mode: 0o700 })
  try {
    for (const [name, path] of Object.entries(stores)) {
      await copyStoreFile(path, join(folder, name))
      interruption.check('Nothing was kept.')
    }
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

/** @throws {Error} if one of the stores is missing. */
export const requireStores = ({ directory, forms }: BackupSource): void => {
  requireStore(forms)
  requireStore(directory)
}

const copyStoreFile = async (from: string, to: string): Promise<void> => {
  try {
    using database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
    database.prepare('VACUUM INTO ?').run(to)
  } catch (cause) {
    const { message } = cause as Error
    throw new Error(`${from} cannot be copied to ${to} (${message}). Check both files and their disks.`, {
      cause,
    })
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
    counts: countRows(folder),
    files: Object.fromEntries(digests),
  }
  const path = join(folder, manifestFile)
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  await syncToDisk(path)
  await syncToDisk(folder)
  return manifest
}

/**
 * Copies the files of a backup to the paths of the environment, after verifying each file. Skips those that are there
 * already: a restore that was killed is repeated.
 *
 * @returns the manifest of the backup.
 * @throws {Error} if the backup is incomplete, needs a newer release, or a target file exists and differs. Then no file is
 *   restored.
 */
export const restoreBackup = async (folder: string, target: BackupSource): Promise<Manifest> => {
  const manifest = readManifest(folder)
  // The stores last: no process opens one that is unfinished.
  const files = Object.entries(manifest.files).toReversed()
  const moves: { from: string; unfinished: string; to: string; digest: string }[] = []
  for (const [name, digest] of files) {
    const to = targetPathOf(name, target)
    // SQLite would apply the write-ahead log of an earlier store to the restored one.
    const hasLog = statSync(`${to}-wal`, { throwIfNoEntry: false })?.size
    const path = hasLog ? `${to}-wal` : to
    if (path === to && existsSync(to) && (await sha256Of(to)) === digest) continue
    if (existsSync(path)) throw new Error(`${path} exists. Set DATA_DIR to a folder without stores.`)
    moves.push({ from: join(folder, name), unfinished: restoringPath(to), to, digest })
  }
  await checkReleases(folder)
  using interruption = new Interruption()
  try {
    // All of them before the first copy, so that no process opens a store whose turn has not come.
    for (const { unfinished } of moves) {
      createFolder(dirname(unfinished))
      await writeFile(unfinished, '', { mode: 0o600 })
    }
    for (const { from, unfinished, digest } of moves) {
      await copyPrivately(from, unfinished)
      if ((await sha256Of(unfinished)) !== digest) throw new Error(`${from} has changed since the backup.`)
      if (from.endsWith('.db')) checkIntegrity(unfinished)
      interruption.check('Nothing was restored.')
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

/** The path of a SQLite store. @throws {Error} for any other store. */
const storeFile = (store: NamedStore): string => {
  const path = fileOf(store)
  if (path !== undefined) return path
  throw new Error(
    `The ${store.name} store is not a SQLite file. For MongoDB, use mongodump and mongorestore (docs/operations.md), or formctl copy.`,
  )
}

/** The SHA-256 of a file, hexadecimal. */
const sha256Of = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Syncs a file, or the entries of a folder, to the disk. */
export const syncToDisk = async (path: string): Promise<void> => {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/** Sets the mode of a file to 0600 and syncs it to the disk. */
const makePrivate = async (path: string): Promise<void> => {
  await chmod(path, 0o600)
  await syncToDisk(path)
}

/** Copies a file. Only the owner can read the copy. */
const copyPrivately = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to)
  await makePrivate(to)
}

/**
 * Checks every page, index and constraint of a SQLite file, except foreign keys: revisions outlive their deleted form until
 * they are cleared.
 *
 * @throws {Error} with the first three problems.
 */
const checkIntegrity = (path: string): void => {
  using database = new DatabaseSync(path, { readOnly: true })
  const lines = database
    .prepare('PRAGMA integrity_check')
    .all()
    .map((row) => String(row.integrity_check))
  const problems = lines.filter((line) => line !== 'ok')
  if (problems.length > 0) throw new Error(`${path} is damaged: ${problems.slice(0, 3).join('; ')}.`)
}

const manifestFile = 'manifest.json'

/** Optional files of `DATA_DIR` that a backup contains. */
const secretFiles = ['internal-secret', 'demo-api-key'] as const

const Digest = z.string().regex(/^[0-9a-f]{64}$/)

/** The content of a backup. It is written last, so a folder with a manifest is complete. */
const Manifest = z.strictObject({
  format: z.literal('form-management backup 1'),
  createTime: Timestamp,
  /** The rows of the main tables. */
  counts: z.record(z.string(), z.int()),
  /** SHA-256 of each file, hexadecimal. */
  files: z.strictObject({
    'directory.db': Digest,
    'forms.db': Digest,
    'internal-secret': Digest.optional(),
    'demo-api-key': Digest.optional(),
  }),
})
export type Manifest = z.infer<typeof Manifest>

const tables = {
  'directory.db': ['organizations', 'users', 'members', 'keys'],
  'forms.db': ['forms', 'deletions', 'revisions', 'replies', 'events'],
}

/** Counts the rows of the main tables of both stores in a folder, by table. */
export const countRows = (folder: string): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const [name, names] of Object.entries(tables)) {
    using database = new DatabaseSync(join(folder, name), { readOnly: true })
    for (const table of names)
      counts[table] = database.prepare(`SELECT count(*) AS count FROM ${table}`).get()!.count as number
  }
  return counts
}

/** Whether a folder is a complete backup. */
export const isBackup = (folder: string): boolean => existsSync(join(folder, manifestFile))

/** @throws {Error} if the folder is not a complete backup in a format that this release knows. */
const readManifest = (folder: string): Manifest => {
  const path = join(folder, manifestFile)
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${folder} is not a complete backup of formctl: ${path} is missing or invalid.`, {
      cause,
    })
  }
}
