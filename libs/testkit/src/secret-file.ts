import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/**
 * Reads a secret from `file`. The first call creates the file with the result of `create`.
 *
 * @throws {Error} that names the file if `parse` rejects its content.
 */
export function readOrCreateSecret<T>(file: string, create: () => string, parse: (text: string) => T): T {
  const existing = readIfExists(file)
  if (!existing) writeSecret(file, create())
  try {
    if (existing?.includes('\0')) throw new Error('It has zeros, as after a power failure.')
    return parse(existing || readIfExists(file)!)
  } catch (cause) {
    throw new Error(`${file} is damaged. Restore it, or delete it: the next start creates another.`, {
      cause,
    })
  }
}

/** Replaces `file` atomically. Only its owner can read it. */
export function writeSecret(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

/** The content of `file` without surrounding white space; undefined if it does not exist. */
export function readIfExists(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
