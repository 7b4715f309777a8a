import { mkdtempDisposable, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { installedSecantusDb, installSecantusDb, secantusVersion } from './install-secantusdb.ts'

describe('installSecantusDb', () => {
  it('reports why it cannot install, and leaves no folder behind', async () => {
    await using parent = await mkdtempDisposable(join(tmpdir(), 'secantusdb-'))
    const folder = join(parent.path, 'environment')
    const offline = {
      ...process.env,
      PIP_INDEX_URL: 'http://127.0.0.1:1',
      PIP_FIND_LINKS: '',
      PIP_RETRIES: '0',
    }

    await expect(installSecantusDb(offline, folder)).rejects.toThrow(/^(pip cannot install it: .|no Python)/)

    expect(await readdir(parent.path)).toEqual([])
  })

  it('reports that no Python is on the PATH', async () => {
    await using parent = await mkdtempDisposable(join(tmpdir(), 'secantusdb-'))

    await expect(installSecantusDb({ PATH: parent.path }, join(parent.path, 'environment'))).rejects.toThrow(
      'no Python 3.11 with pip 22.3 or newer is on the PATH',
    )
  })

  it.skipIf(!installedSecantusDb())(
    'returns the installed interpreter, even without Python on the PATH',
    async () => {
      expect(await installSecantusDb({ PATH: '' })).toBe(installedSecantusDb())
    },
  )
})

describe('secantusVersion', () => {
  it('is the version in requirements.txt', () => {
    expect(secantusVersion()).toBe('0.7.0b3')
  })
})
