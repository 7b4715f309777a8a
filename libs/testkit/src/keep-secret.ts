import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/** What `file` keeps. The first call makes it, readable by its owner alone, whole or not at all. */
export function keepSecret(file: string, make: () => string): string {
  const kept = keptText(file)
  if (kept) return kept
  const made = make()
  replaceSecret(file, made)
  return made
}

/** Writes what `file` keeps, readable by its owner alone, whole or not at all. */
export function replaceSecret(file: string, text: string): void {
  writeFileSync(`${file}.tmp`, text, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

export function keptText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
