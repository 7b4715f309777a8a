import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, promisify } from 'node:util'

const run = promisify(execFile)

/** A release whose sources are on this machine. */
export interface Release {
  /** For titles of tests, such as `release 0.1.0`. */
  name: string
  /** The folder of its sources, with its dependencies. */
  folder: string
}

/**
 * The last release: the sources at the commit that CHANGELOG.md names, in a git worktree under `.cache`, which the
 * first call creates. The folder cannot be under node_modules, where Node does not strip types.
 *
 * Where the commit cannot be had (sources from an archive, a shallow clone), this release takes the place of the last
 * one, and the title of the test says why: then the test shows that instances of one release replace each other.
 *
 * @param root the folder of this release.
 * @throws {Error} that says what to do when a whole clone does not have the commit.
 */
export const prepareLastRelease = async (root: string): Promise<Release> => {
  if (!existsSync(join(root, '.git'))) return { name: 'itself (this is no git clone)', folder: root }
  const { version, commit } = readLastRelease(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  const folder = join(root, '.cache', `release-${commit}`)
  if (!isInstalled(folder)) {
    const reason = await whyAbsent(root, version, commit)
    if (reason) return { name: `itself (${reason})`, folder: root }
    await checkOut(root, folder, commit)
  }
  await install(folder, root)
  return { name: `release ${version}`, folder }
}

/** @throws {Error} for a changelog without a line such as `Release 0.1.0 is commit 0123…`. */
export const readLastRelease = (changelog: string): { version: string; commit: string } => {
  const [, version, commit] = /^Release (\d+\.\d+\.\d+) is commit `?([0-9a-f]{40})\b/m.exec(changelog) ?? []
  if (!version || !commit) {
    throw new Error(
      'CHANGELOG.md names no release. Below the heading of the last one, add: Release 1.2.3 is commit (40 hexadecimal digits).',
    )
  }
  return { version, commit }
}

/**
 * Why this clone cannot have the commit: it is shallow, or git does not read it. Undefined where it has the commit.
 *
 * @throws {Error} where a whole clone lacks it.
 */
const whyAbsent = async (root: string, version: string, commit: string): Promise<string | undefined> => {
  const git = async (...args: string[]) => (await run('git', ['-C', root, ...args])).stdout.trim()
  const isShallow = await git('rev-parse', '--is-shallow-repository').catch(() => 'unknown')
  if (isShallow === 'unknown') return 'git cannot read this clone'
  try {
    await git('cat-file', '-e', `${commit}^{commit}`)
    return undefined
  } catch (cause) {
    if (isShallow === 'true') return `release ${version} is not in this shallow clone: git fetch --unshallow`
    const message = `The upgrade from release ${version} needs its commit ${commit}, which this clone does not have. Run git fetch, or correct the commit in CHANGELOG.md.`
    throw new Error(message, { cause })
  }
}

/** Creates a git worktree in place of one that is incomplete, or whose folder has been deleted. */
const checkOut = async (root: string, folder: string, commit: string): Promise<void> => {
  const worktree = (...args: string[]) => run('git', ['-C', root, 'worktree', ...args])
  // Fails if git does not know the worktree.
  await worktree('remove', '--force', folder).catch(() => {})
  rmSync(folder, { recursive: true, force: true })
  await worktree('add', '--quiet', '--detach', folder, commit)
}

/** The last step of an installation creates this folder. */
const isInstalled = (folder: string): boolean => existsSync(join(folder, 'node_modules/@fms'))

/** Links this release's dependencies if the last one has the same; otherwise installs those of the last one, once. */
const install = async (folder: string, root: string): Promise<void> => {
  const hasItsOwn = existsSync(join(folder, 'node_modules/.package-lock.json'))
  if (hasItsOwn) return
  if (!isDeepStrictEqual(dependenciesOf(folder), dependenciesOf(root))) {
    // Neither the tools of development nor the engines for tests: those of this release serve both.
    const options = ['--omit=dev', '--omit=optional', '--ignore-scripts']
    await run('npm', ['ci', ...options], { cwd: folder })
  } else if (!isInstalled(folder)) linkDependencies(folder, root)
}

/** The packages of other authors in package-lock.json, by path. */
const dependenciesOf = (folder: string) => {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const entries = Object.entries<{ link?: boolean }>(packages)
  return entries.filter(([path, { link }]) => path.includes('node_modules/') && !link)
}

/** Links every package but our own, whose links lead to the sources of the release. */
const linkDependencies = (folder: string, root: string): void => {
  for (const modules of globSync('{.,libs/*,services/*,formctl}/node_modules', { cwd: root })) {
    mkdirSync(join(folder, modules), { recursive: true })
    for (const name of readdirSync(join(root, modules)))
      if (name !== '@fms' && name[0] !== '.')
        symlinkSync(join(root, modules, name), join(folder, modules, name))
  }
  const ours = 'node_modules/@fms'
  cpSync(join(root, ours), join(folder, ours), { recursive: true, verbatimSymlinks: true })
}
