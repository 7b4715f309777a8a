import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prepareLastRelease, readLastRelease } from './last-release.ts'

const someCommit = '0123456789abcdef0123456789abcdef01234567'

const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    encoding: 'utf8',
  }).trim()

const write = (folder: string, files: Record<string, string>) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

const manifest = (name: string, more: object = {}) => JSON.stringify({ name, version: '0.1.0', ...more })

/** A lock file with the package `@fms/aip` of the repository, and packages of other authors. */
const lockFile = (packages: object = {}) =>
  JSON.stringify({
    name: 'system',
    version: '0.1.0',
    lockfileVersion: 3,
    requires: true,
    packages: {
      '': { name: 'system', version: '0.1.0', workspaces: ['libs/*'] },
      'libs/aip': { name: '@fms/aip', version: '0.1.0' },
      'node_modules/@fms/aip': { resolved: 'libs/aip', link: true },
      ...packages,
    },
  })

/** A repository whose second commit names the first one as release 0.1.0. Both have the same dependencies. */
const createRepository = async () => {
  const folder = await mkdtempDisposable(join(tmpdir(), 'release-'))
  const root = realpathSync(folder.path)
  write(root, {
    '.gitignore': 'node_modules\n.cache\n',
    'package.json': manifest('system', { workspaces: ['libs/*'] }),
    'package-lock.json': lockFile(),
    'libs/aip/package.json': manifest('@fms/aip'),
    'libs/aip/index.ts': 'of the last release',
  })
  git(root, 'init', '--quiet')
  git(root, 'add', '.')
  git(root, 'commit', '--quiet', '--message', 'release: 0.1.0')
  const commit = git(root, 'rev-parse', 'HEAD')
  write(root, {
    'CHANGELOG.md': `## 0.1.0\n\nRelease 0.1.0 is commit ${commit}.\n`,
    'libs/aip/index.ts': 'of this release',
  })
  git(root, 'add', '.')
  git(root, 'commit', '--quiet', '--message', 'name the release')
  write(root, { 'node_modules/fastify/package.json': manifest('fastify') })
  mkdirSync(join(root, 'node_modules/@fms'))
  symlinkSync('../../libs/aip', join(root, 'node_modules/@fms/aip'))
  return { root, commit, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

describe('the last release', () => {
  it('is the first one in the changelog that has a commit', () => {
    const line = (version: string, commit: string) =>
      `## ${version}\n\nRelease ${version} is commit ${commit}.\n\n`
    const changelog = `## 0.3.0\n\n${line('0.2.0', someCommit)}${line('0.1.0', 'f'.repeat(40))}`

    expect(readLastRelease(changelog)).toEqual({ version: '0.2.0', commit: someCommit })
  })

  it('must be in the changelog', () => {
    expect(() => readLastRelease('## Unreleased\n')).toThrow(/CHANGELOG.md names no release/)
  })

  it('has its own sources, and the dependencies of this release if they are the same', async () => {
    await using repository = await createRepository()
    const { root, commit } = repository

    const { name, folder } = await prepareLastRelease(root)

    expect(name).toBe('release 0.1.0')
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(commit)
    expect(realpathSync(join(folder, 'node_modules/@fms/aip'))).toBe(join(folder, 'libs/aip'))
    expect(realpathSync(join(folder, 'node_modules/fastify'))).toBe(join(root, 'node_modules/fastify'))
  })

  it('has its own dependencies if this release has others', async () => {
    await using repository = await createRepository()
    const { root } = repository
    const newer = { 'node_modules/fastify': { version: '6.0.0' } }
    write(root, { 'package-lock.json': lockFile(newer) })

    const { folder } = await prepareLastRelease(root)

    expect(realpathSync(join(folder, 'node_modules/@fms/aip'))).toBe(join(folder, 'libs/aip'))
    expect(existsSync(join(folder, 'node_modules/fastify'))).toBe(false)
  })

  it('is checked out once, and again when its folder has been deleted', async () => {
    await using repository = await createRepository()
    const { root } = repository
    const { folder } = await prepareLastRelease(root)
    write(folder, { 'still-there': '' })

    expect(existsSync(join((await prepareLastRelease(root)).folder, 'still-there'))).toBe(true)
    rmSync(folder, { recursive: true })
    expect(existsSync(join((await prepareLastRelease(root)).folder, 'libs/aip/index.ts'))).toBe(true)
    expect(git(root, 'worktree', 'list').split('\n')).toHaveLength(2)
  })

  it('is this release where a shallow clone lacks the commit, and its name says what to run', async () => {
    await using repository = await createRepository()
    await using parent = await mkdtempDisposable(join(tmpdir(), 'shallow-'))
    const clone = join(parent.path, 'clone')
    git(repository.root, 'clone', '--quiet', '--depth', '1', `file://${repository.root}`, clone)

    const release = await prepareLastRelease(clone)
    expect(release).toMatchObject({ folder: clone, name: expect.stringContaining('git fetch --unshallow') })
  })

  it('must be a commit that a whole clone has', async () => {
    await using repository = await createRepository()
    const missing = '0'.repeat(40)
    writeFileSync(join(repository.root, 'CHANGELOG.md'), `Release 0.1.0 is commit ${missing}.\n`)

    await expect(prepareLastRelease(repository.root)).rejects.toThrow(/does not have. Run git fetch/)
  })

  it('is this release where there is no git repository', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'archive-'))

    expect(await prepareLastRelease(folder.path)).toMatchObject({ folder: folder.path })
  })
})
