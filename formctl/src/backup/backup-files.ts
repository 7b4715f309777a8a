import { createHash } from 'node:crypto'
import { createReadStream, readFileSync } from 'node:fs'
import { chmod, copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { Timestamp } from '@fms/contracts'
import { z } from 'zod'
import type { NamedStore } from '../stores/stores.ts'

/** The path of a SQLite store. @throws {Error} for any other store. */
export const storeFile = ({ name, url }: NamedStore): string => {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ':memory:'
  if (path !== ':memory:') return path
  throw new Error(
    `The ${name} store is not a SQLite file. For MongoDB, use mongodump and mongorestore (docs/operations.md), or formctl copy.`,
  )
}

/** The SHA-256 of a file, hexadecimal. */
export const sha256Of = async (path: string): Promise<string> => {
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
export const makePrivate = async (path: string): Promise<void> => {
  await chmod(path, 0o600)
  await syncToDisk(path)
}

/** Copies a file. Only the owner can read the copy. */
export const copyPrivately = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to)
  await makePrivate(to)
}

/**
 * Checks every page, index and constraint of a SQLite file, except foreign keys: revisions outlive their deleted form until
 * they are cleared.
 *
 * @throws {Error} with the first three problems.
 */
export const checkIntegrity = (path: string): void => {
  using database = new DatabaseSync(path, { readOnly: true })
  const lines = database
    .prepare('PRAGMA integrity_check')
    .all()
    .map((row) => String(row.integrity_check))
  const problems = lines.filter((line) => line !== 'ok')
  if (problems.length > 0) throw new Error(`${path} is damaged: ${problems.slice(0, 3).join('; ')}.`)
}

export const manifestFile = 'manifest.json'

/** Optional files of `DATA_DIR` that a backup contains. */
export const secretFiles = ['internal-secret', 'demo-api-key'] as const

const Digest = z.string().regex(/^[0-9a-f]{64}$/)

/** The content of a backup. It is written last, so a folder with a manifest is complete. */
const Manifest = z.strictObject({
  format: z.literal('form-management backup 1'),
  createTime: Timestamp,
  /** SHA-256 of each file, hexadecimal. */
  files: z.strictObject({
    'directory.db': Digest,
    'forms.db': Digest,
    'internal-secret': Digest.optional(),
    'demo-api-key': Digest.optional(),
  }),
})
export type Manifest = z.infer<typeof Manifest>

/** @throws {Error} if the folder is not a complete backup in a format that this release knows. */
export const readManifest = (folder: string): Manifest => {
  const path = join(folder, manifestFile)
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${folder} is not a complete backup of formctl: ${path} is missing or invalid.`, {
      cause,
    })
  }
}
