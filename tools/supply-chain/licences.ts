import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** SPDX identifiers of the licences that dependencies may have: permissive, each read by a person once. */
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

/** Packages whose manifest has no SPDX expression, or another licence, and why they may be used. */
const exceptions: Record<string, { licence: string; because: string }> = {
  buildcheck: { licence: 'MIT', because: 'its LICENSE file says so' },
  'cpu-features': { licence: 'MIT', because: 'its LICENSE file says so' },
  ssh2: { licence: 'MIT', because: 'its LICENSE file says so' },
  lightningcss: { licence: 'MPL-2.0', because: 'for tests alone, unchanged, and no part of what is shipped' },
}

export interface Dependency {
  name: string
  version: string
  /** An SPDX expression; undefined where the package does not say. */
  licence: string | undefined
  /** No part of the image: for tests, checks and the benchmark. */
  isDev: boolean
}

interface LockedPackage {
  version?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  link?: boolean
}

/** Every package of a lock file that is not a workspace, by name and version. */
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

/** A line for each dependency whose licence is not allowed. */
export const licenceProblems = (dependencies: readonly Dependency[]): string[] =>
  dependencies
    .filter(({ name, licence, isDev }) => !(isDev && exceptionOf(name)) && !isAllowed(licence))
    .map(({ name, version, licence }) => `${name} ${version}: ${licence ?? 'no licence in its manifest'}`)

export const readLockFile = () =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8'))

/** Platform packages, such as lightningcss-linux-x64-gnu, have the licence of the package that they belong to. */
const exceptionOf = (name: string) =>
  exceptions[name] ?? (name.startsWith('lightningcss-') ? exceptions.lightningcss : undefined)

/** Of an SPDX expression without nesting: all of its ANDs, any of its ORs. */
const isAllowed = (licence = ''): boolean =>
  licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((all) => all.split(' AND ').every((each) => allowedLicences.has(each.trim())))
