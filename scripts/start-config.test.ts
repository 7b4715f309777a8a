import { writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOrCreatePasswords } from '@fms/testkit/nats-users'
import { describe, expect, it } from 'vitest'
import { readOrCreateSecrets, readStartConfig } from './start-config.ts'

describe('a secret in DATA_DIR', () => {
  it('is created once', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'secrets-'))
    const config = readStartConfig({ DATA_DIR: folder.path })

    const created = readOrCreateSecrets(config)

    expect(created.demoApiKey).toMatch(/^fms_/)
    expect(readOrCreateSecrets(config)).toEqual(created)
  })

  it.each([
    ['internal-secret', '{'],
    ['internal-secret', '\0'.repeat(43)],
    ['demo-api-key', '{'],
    ['passwords.json', '{'],
  ])('is not used if it is damaged, and its file is named: %s, %j', async (name, content) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'secrets-'))
    const file = join(folder.path, name)
    writeFileSync(file, content)

    const read = () =>
      readOrCreateSecrets(readStartConfig({ DATA_DIR: folder.path })) && readOrCreatePasswords(folder.path)

    expect(read).toThrow(`${file} is damaged. Restore it, or delete it: the next start creates another.`)
  })
})
