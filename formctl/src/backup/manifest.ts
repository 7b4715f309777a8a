import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Timestamp } from '@fms/contracts'
import { z } from 'zod'

export const manifestFile = 'manifest.json'

/** Files of `DATA_DIR` that a backup keeps beside the stores, where they are there. */
export const secretFiles = ['internal-secret', 'demo-api-key'] as const

const Digest = z.string().regex(/^[0-9a-f]{64}$/)

/** What a backup holds. It is written last: a folder with it is whole. */
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

/** @throws {Error} where the folder holds no whole backup that this release reads. */
export const readManifest = (folder: string): Manifest => {
  const path = join(folder, manifestFile)
  try {
    return Manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new Error(`${folder} holds no whole backup of formctl: ${path} is missing or not sound.`, { cause })
  }
}
