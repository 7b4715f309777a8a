import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, open } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import type { NamedStore } from '../naming-store.ts'

/** The file of an embedded store. @throws {Error} for a store that is none. */
export const storeFile = ({ name, url }: NamedStore): string => {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : ':memory:'
  if (path !== ':memory:') return path
  throw new Error(
    `The ${name} store is no SQLite file. For MongoDB, use mongodump and mongorestore (docs/operations.md), or formctl copy.`,
  )
}

/** The SHA-256 of a file, hexadecimal. */
export const digestOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Resolves once the file, or the entries of a folder, are on the disk. */
export const sync = async (path: string): Promise<void> => {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/** Lets only the owner of a file read it. Resolves once it is on the disk. */
export const secure = async (path: string): Promise<void> => {
  await chmod(path, 0o600)
  await sync(path)
}

/** A copy that only its owner reads. */
export const copySecurely = async (from: string, to: string): Promise<void> => {
  await copyFile(from, to)
  await secure(to)
}

/**
 * Reads every page and index of a SQLite file. Not its foreign keys: revisions outlive their form until they are cleared.
 *
 * @throws {Error} that says what is wrong with it.
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
