import { existsSync } from 'node:fs'

/** Where a restore keeps the file of a store until it has all files. */
export const restoringPath = (path: string): string => `${path}.restoring`

/** @throws {Error} if a restore was killed before it had moved the file into its place. */
export const assertRestored = (path: string): void => {
  if (!existsSync(restoringPath(path))) return
  throw new Error(
    `${restoringPath(path)} is of a restore that was interrupted. Repeat formctl restore, or delete the file.`,
  )
}
