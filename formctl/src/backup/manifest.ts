import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Timestamp } from '@fms/contracts'
import { z } from 'zod'

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
