import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder and those above. Node's `recursive` never ends where it can create none, such as below `/proc`. */
export const makeFolder = (folder: string, mode = 0o777): void => {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, mode)
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
