import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** SPDX identifiers of the licences that dependencies may have: permissive, each reviewed by a person. */
export const allowedLicences = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
  'Zlib',
])

/** Packages without an SPDX expression or with another licence, and why they are allowed. */
const exceptions: Record<string, { licence: string; because: string }> = {
  buildcheck: { licence: 'MIT', because: 'stated in its LICENSE file' },
  'cpu-features': { licence: 'MIT', because: 'stated in its LICENSE file' },
  ssh2: { licence: 'MIT', because: 'stated in its LICENSE file' },
  lightningcss: { licence: 'MPL-2.0', because: 'used unchanged, in tests and builds, not shipped' },
  'axe-core': { licence: 'MPL-2.0', because: 'used unchanged, only in tests, not shipped' },
}

export interface Dependency {
  name: string
  version: string
  /** An SPDX expression; undefined if the package has none. */
  licence: string | undefined
  /** Not part of the image: used by tests, checks and the benchmark. */
  isDev: boolean
}

interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

/** The packages of a lock file except workspaces, ordered by name and version. */
export const dependenciesOf = (lockFile: { packages: Record<string, LockedPackage> }): Dependency[] =>
  Object.entries(lockFile.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, { version = '', license, dev, devOptional }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return {
        name,
        version,
        licence: exceptionOf(name)?.licence ?? license,
        isDev: Boolean(dev || devOptional),
      }
    })
    .sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))

/** Returns a line for each dependency whose licence is not allowed. */
export const licenceProblems = (dependencies: readonly Dependency[]): string[] =>
  dependencies
    .filter(({ name, licence, isDev }) => !(isDev && exceptionOf(name)) && !isAllowed(licence))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence in its manifest'}`)

export const readLockFile = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'))

/** Platform packages, such as lightningcss-linux-x64-gnu, share the exception of their main package. */
const exceptionOf = (name: string) =>
  exceptions[name] ?? (name.startsWith('lightningcss-') ? exceptions.lightningcss : undefined)

/** Evaluates an SPDX expression without nesting: any operand of OR, all operands of AND. */
const isAllowed = (licence = ''): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((all) => all.split(' AND ').every((each) => allowedLicences.has(each.trim())))
