import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockDataDir } from './data-dir.ts'

const disk = mkdtempSync(join(tmpdir(), 'data-dir-'))
const mount = (options: string) =>
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { stdio: 'ignore' })

/** Needs the right to mount. */
const isMounted = (() => {
  try {
    mount('size=2m')
    return true
  } catch {
    return false
  }
})()

afterAll(() => {
  if (isMounted) execFileSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true })
})

describe('lockDataDir', () => {
  it('names a lock that it cannot open or read, and no other process', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'data-dir-'))
    const lock = join(folder.path, 'start.lock')

    for (const spoil of [() => writeFileSync(lock, 'no database'), () => mkdirSync(lock)]) {
      rmSync(lock, { force: true })
      spoil()
      expect(() => lockDataDir(folder.path)).toThrow(/start\.lock cannot be locked \(.+\)\. Run npm start as/)
    }
  })
})

describe.runIf(isMounted)('lockDataDir', () => {
  it('says what to do if the disk is full', () => {
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(1_500_000))

    expect(() => lockDataDir(join(disk, 'data'))).toThrow(
      /^The disk of .* is full\. Free some room, or set DATA_DIR/,
    )
  })

  it('says what to do if the disk is read-only', () => {
    mount('remount,ro')

    expect(() => lockDataDir(disk)).toThrow(
      /^DATA_DIR cannot .* \(EROFS: .*\)\. Set DATA_DIR to another folder\./,
    )
  })
})
