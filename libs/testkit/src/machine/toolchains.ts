import { accessSync, appendFileSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Every executable of this name on the PATH, in its order. */
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

/** Adds a line to the report at the end of a test run: a toolchain that it used or did not find. */
export const reportToolchain = (line: string): void => {
  const file = process.env.FMS_TOOLCHAINS_FILE
  if (file) appendFileSync(file, `${line}\n`)
}

/** The environment without the variables that npm sets for scripts: an npm started in it uses its own working directory. */
export const environmentWithoutNpm = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith('npm_')))
