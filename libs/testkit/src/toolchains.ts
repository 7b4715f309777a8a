import { accessSync, appendFileSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Every program of this name on the PATH, in its order. */
export const findOnPath = (program: string): string[] =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .filter(isExecutable)

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Adds a line to what a test run prints at its end: which toolchains it used, and which it did not find. */
export const reportToolchain = (line: string): void => {
  const file = process.env.FMS_TOOLCHAINS_FILE
  if (file) appendFileSync(file, `${line}\n`)
}

/** The environment without what npm adds to it for a script: an npm that is started in it keeps to its own folder. */
export const environmentWithoutNpm = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
