import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { countRows, type Manifest, restoreBackup } from './backup.ts'

/**
 * Restores a backup into a temporary folder, and compares digests and counts with those of the time of the backup.
 *
 * @throws {Error} if they differ, or the backup cannot be restored.
 */
export const verifyBackup = async (folder: string): Promise<Manifest> => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'formctl-verify-'))
  const store = <N extends string>(name: N) => ({
    name,
    url: `sqlite:${join(temporary.path, `${name}.db`)}`,
    setting: 'TMPDIR',
  })
  const manifest = await restoreBackup(folder, {
    directory: store('directory'),
    forms: store('forms'),
    dataDir: temporary.path,
  })
  const counts = countRows(temporary.path)
  if (isDeepStrictEqual(counts, manifest.counts)) return manifest
  throw new Error(
    `${folder} restores to ${JSON.stringify(counts)}, and had ${JSON.stringify(manifest.counts)} when it was made.`,
  )
}
