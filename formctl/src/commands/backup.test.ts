import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openDirectoryStore } from '@fms/directory-store'
import { openFormsStore } from '@fms/forms-store'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newFormRecord } from '../testing/form-record.ts'
import { runFormctl } from '../testing/run-formctl.ts'

let folder: string
const at = (...names: string[]) => join(folder, ...names)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'formctl-backup-'))
  useDataDir('data')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

const useDataDir = (name: string) => {
  vi.stubEnv('DATA_DIR', at(name))
  for (const variable of ['DIRECTORY_STORE_URL', 'FORMS_STORE_URL']) vi.stubEnv(variable, '')
}

const organizationId = randomUUID()
const openForms = (dataDir = 'data') => openFormsStore(`sqlite:${at(dataDir, 'forms.db')}`)

const formsIn = async (dataDir: string) => {
  await using forms = await openForms(dataDir)
  return await Array.fromAsync(forms.exportForms(organizationId))
}

const givenData = async () => {
  await runFormctl(['migrate'])
  expect(await runFormctl(['user', 'create', '--email', 'ada@example.com'])).toMatchObject({ code: 0 })
  const records = Array.from({ length: 40 }, () =>
    newFormRecord({ organizationId, revisions: 2, replies: 3 }),
  )
  await using forms = await openForms()
  await Promise.all(records.map((record) => forms.importForm(record)))
  writeFileSync(at('data', 'internal-secret'), 's'.repeat(43))
  return formsIn('data')
}

const backUp = async () => {
  const forms = await givenData()
  expect(await runFormctl(['backup', at('backup')])).toMatchObject({ code: 0, stderr: '' })
  return forms
}

describe('formctl backup', () => {
  it('restores identical files that only the owner can read', async () => {
    const forms = await backUp()

    useDataDir('restored')
    const { code, stderr, stdout } = await runFormctl(['restore', at('backup')])

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('directory.db, forms.db, internal-secret')
    expect(readdirSync(at('restored')).sort()).toEqual(['directory.db', 'forms.db', 'internal-secret'])
    for (const name of ['backup', 'restored']) {
      const files = readdirSync(at(name)).map((file) => at(name, file))
      for (const path of [at(name), ...files]) expect(statSync(path).mode & 0o077).toBe(0)
    }
    expect(await formsIn('restored')).toEqual(forms)
    await using directory = await openDirectoryStore(`sqlite:${at('restored', 'directory.db')}`)
    expect(await directory.listUsers()).toMatchObject([{ email: 'ada@example.com' }])
    expect(readFileSync(at('restored', 'internal-secret'), 'utf8')).toBe('s'.repeat(43))
  })

  it('contains every form stored before it began, complete, while others are stored', async () => {
    const before = await givenData()
    await using forms = await openForms()
    const later = Array.from({ length: 200 }, () =>
      newFormRecord({ organizationId, revisions: 1, replies: 1 }),
    )
    const writing = Promise.all(later.map((record) => forms.importForm(record)))

    const { code } = await runFormctl(['backup', at('backup')])
    await writing

    expect(code).toBe(0)
    cpSync(at('backup'), at('copy'), { recursive: true })
    const copied = await formsIn('copy')
    const written = new Map([...before, ...later].map((record) => [record.formId, record]))
    const ids = new Set(copied.map(({ formId }) => formId))
    expect(before.filter(({ formId }) => !ids.has(formId))).toEqual([])
    for (const record of copied) expect(record).toEqual(written.get(record.formId))
  })

  it('checks the whole copy: it rejects a row that violates a constraint of its table', async () => {
    await givenData()
    {
      using database = new DatabaseSync(at('data', 'directory.db'))
      database.enableDefensive(false)
      database.exec(`PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'disableTime INTEGER', 'disableTime INTEGER NOT NULL')`)
    }

    const { code, stderr } = await runFormctl(['backup', at('backup')])

    expect(code).toBe(1)
    expect(stderr).toContain('directory.db is damaged: NULL value in users.disableTime.')
    expect(readdirSync(folder)).toEqual(['data'])
  })

  it('accepts a store whose deleted forms are not cleared yet', async () => {
    await givenData()
    {
      // What a delete leaves for a moment: revisions and replies without their form.
      using database = new DatabaseSync(at('data', 'forms.db'), { enableForeignKeyConstraints: false })
      database.exec('DELETE FROM forms WHERE formId = (SELECT min(formId) FROM forms)')
    }

    expect(await runFormctl(['backup', at('backup')])).toMatchObject({ code: 0, stderr: '' })
  })

  it('leaves no folder behind if it fails, and rejects an existing folder', async () => {
    const none = await runFormctl(['backup', at('backup')])
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no forms store at') })
    await givenData()
    const taken = await runFormctl(['backup', at('data')])
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('exists. Choose a new folder.') })

    breakPage(at('data', 'directory.db'))
    const damaged = await runFormctl(['backup', at('backup')])

    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringMatching(/damaged|malformed/) })
    writeFileSync(at('data', 'forms.db'), 'This is no database.')
    const other = await runFormctl(['backup', at('backup')])
    expect(other.stderr).toMatch(/data\/forms\.db cannot be copied to .*\/backup\/forms\.db \(.+\)\./)
    expect(readdirSync(folder)).toEqual(['data'])
  })

  it.each([['backup'], ['backup', '--keep', '2']])(
    'names a folder that cannot be created: %s',
    async (...args) => {
      await givenData()

      const { code, stderr } = await runFormctl([...args, '/dev/null/backups/new'])

      expect(code).toBe(1)
      expect(stderr).toMatch(
        /\/dev\/null\/backups(\/new)? cannot be created \(ENOTDIR.*\)\. Choose another folder\./,
      )
    },
  )

  it('rejects a store that is not a file, and names the alternatives', async () => {
    vi.stubEnv('FORMS_STORE_URL', 'mongodb://127.0.0.1:1/forms')

    const { code, stderr } = await runFormctl(['backup', at('backup')])

    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: The forms store is not a SQLite file.*mongodump/)
  })
})

describe('formctl backup --keep', () => {
  const backups = () => readdirSync(at('backups')).sort()
  const keepTwo = () => runFormctl(['backup', at('backups'), '--keep', '2', '--json'])

  it('adds a folder named by its time, deletes the oldest, and clears what a killed run left', async () => {
    await givenData()
    const folders: string[] = []
    mkdirSync(at('backups', 'unfinished-novel'), { recursive: true })
    for (let round = 1; round <= 3; round++) {
      const { code, stdout } = await keepTwo()
      expect(code).toBe(0)
      folders.push(basename(JSON.parse(stdout).folder))
      mkdirSync(at('backups', 'unfinished-2026-11-23T02-30-00.000Z'), { recursive: true })
    }
    expect((await keepTwo()).code).toBe(0)

    expect(folders[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z$/)
    expect(backups()).toEqual([folders[2], expect.stringMatching(/Z$/), 'unfinished-novel'])
  })

  it('keeps the new one when the clock was set back since those before', async () => {
    await givenData()
    const later = ['2099-01-01T00-00-00.000Z', '2099-01-02T00-00-00.000Z']
    for (const each of later) mkdirSync(at('backups', each), { recursive: true })

    const { code, stdout } = await keepTwo()

    expect(code).toBe(0)
    expect(backups()).toEqual([basename(JSON.parse(stdout).folder), later[1]])
  })

  it('deletes no older backup if the new one fails', async () => {
    await givenData()
    await keepTwo()
    await keepTwo()
    const before = backups()
    breakPage(at('data', 'directory.db'))

    expect((await keepTwo()).code).toBe(1)

    expect(backups().filter((each) => !each.startsWith('unfinished'))).toEqual(before)
  })
})

describe('a good backup', () => {
  const note = () => JSON.parse(readFileSync(at('data', 'last-backup.json'), 'utf8'))

  it('is passed to BACKUP_COMMAND, and noted', async () => {
    await givenData()
    vi.stubEnv('BACKUP_COMMAND', `cp -r "${at('data', 'internal-secret')}" "${at('uploaded')}"; ls`)

    const { code, stdout } = await runFormctl(['backup', relative('', at('backup')), '--json'])

    expect(code).toBe(0)
    expect(readdirSync(folder)).toContain('uploaded')
    expect(note()).toEqual({ createTime: JSON.parse(stdout).createTime, folder: at('backup') })
  })

  it('counts as failed if BACKUP_COMMAND fails', async () => {
    await givenData()
    vi.stubEnv('BACKUP_COMMAND', 'exit 3;')

    const { code, stderr } = await runFormctl(['backup', at('backup')])

    expect(code).toBe(1)
    expect(stderr).toContain('BACKUP_COMMAND ended with 3. The backup itself is complete')
    expect(readdirSync(at('data'))).not.toContain('last-backup.json')
    expect((await runFormctl(['backup', 'verify', at('backup')])).code).toBe(0)
  })
})

describe('formctl backup verify', () => {
  it('restores the newest backup of a folder, and counts its rows', async () => {
    await givenData()
    await runFormctl(['backup', at('backups'), '--keep', '2'])
    await runFormctl(['user', 'create', '--email', 'grace@example.com'])
    await runFormctl(['backup', at('backups'), '--keep', '2'])

    const { code, stdout } = await runFormctl(['backup', 'verify', at('backups'), '--json'])

    expect(code).toBe(0)
    expect(JSON.parse(stdout).counts).toMatchObject({ users: 2, forms: 40, revisions: 80, replies: 120 })
  })

  it('rejects a backup that has changed, and a folder without one', async () => {
    await backUp()
    expect((await runFormctl(['backup', 'verify', at('backup')])).code).toBe(0)
    appendFileSync(at('backup', 'forms.db'), '!')

    expect((await runFormctl(['backup', 'verify', at('backup')])).stderr).toContain('has changed since')
    expect((await runFormctl(['backup', 'verify', at('data')])).stderr).toContain('There is no backup in')
  })
})

describe('formctl restore', () => {
  const refused = async (message: RegExp) => {
    useDataDir('restored')
    const { code, stderr } = await runFormctl(['restore', at('backup')])
    expect(code).toBe(1)
    expect(stderr).toMatch(message)
    expect(readdirSync(folder).includes('restored') ? readdirSync(at('restored')) : []).toEqual([])
  }

  it('rejects a file that changed since the backup', async () => {
    await backUp()
    using database = new DatabaseSync(at('backup', 'forms.db'))
    database.exec('DELETE FROM revisions')
    database.close()

    await refused(/forms\.db has changed since the backup/)
  })

  it.each([
    ['a manifest is missing', () => rmSync(at('backup', 'manifest.json'))],
    ['a manifest is cut short', () => writeFileSync(at('backup', 'manifest.json'), '{"format":')],
  ])('rejects a folder where %s', async (_, damage) => {
    await backUp()
    damage()

    await refused(/is not a complete backup/)
  })

  it('rejects a backup without a store, and one that needs a newer release', async () => {
    await backUp()
    {
      using database = new DatabaseSync(at('backup', 'forms.db'))
      database.exec('UPDATE schemaNote SET oldestVersion = 999')
    }
    await refused(/forms\.db needs a newer release/)
    rmSync(at('backup', 'forms.db'))

    await refused(/forms\.db is missing/)
  })

  it('leaves nothing behind on Ctrl-C', async () => {
    await backUp()
    useDataDir('restored')
    const interrupt = (event: string | symbol) =>
      event === 'SIGINT' && queueMicrotask(() => process.emit('SIGINT'))
    process.on('newListener', interrupt)

    const { code, stderr } = await runFormctl(['restore', at('backup')])
    process.off('newListener', interrupt)

    expect({ code, stderr }).toEqual({ code: 1, stderr: 'error: Interrupted. Nothing was restored.\n' })
    expect(readdirSync(at('restored'))).toEqual([])
  })

  it('does not change a DATA_DIR that has a store', async () => {
    await backUp()
    appendFileSync(at('data', 'internal-secret'), '!')
    const before = await formsIn('data')

    const { code, stderr } = await runFormctl(['restore', at('backup')])

    expect(code).toBe(1)
    expect(stderr).toContain('exists. Set DATA_DIR to a folder without stores.')
    expect(await formsIn('data')).toEqual(before)
  })

  it('completes a restore that was killed, before which no process opens the store that is missing', async () => {
    const forms = await backUp()
    useDataDir('restored')
    await runFormctl(['restore', at('backup')])
    renameSync(at('restored', 'directory.db'), at('restored', 'directory.db.restoring'))

    const refusal = 'directory.db.restoring is of a restore that was interrupted. Repeat formctl restore'
    const opened = openDirectoryStore(`sqlite:${at('restored', 'directory.db')}`)
    await expect(opened).rejects.toThrow(refusal)
    expect((await runFormctl(['doctor'])).stdout).toContain(refusal)
    expect(await runFormctl(['restore', at('backup')])).toMatchObject({ code: 0, stderr: '' })

    expect(readdirSync(at('restored')).sort()).toEqual(['directory.db', 'forms.db', 'internal-secret'])
    expect((await runFormctl(['user', 'list', '--json'])).stdout).toContain('ada@example.com')
    expect(await formsIn('restored')).toEqual(forms)
  })

  it('lets no process open a store from its first copy on', async () => {
    await backUp()
    // A named pipe: its copy waits until it is opened for writing, and then differs from the backup.
    rmSync(at('backup', 'internal-secret'))
    execFileSync('mkfifo', [at('backup', 'internal-secret')])
    useDataDir('restored')
    const restore = runFormctl(['restore', at('backup')])
    try {
      await vi.waitUntil(() => existsSync(at('restored', 'directory.db.restoring')))
      const opened = openDirectoryStore(`sqlite:${at('restored', 'directory.db')}`)
      await expect(opened).rejects.toThrow('directory.db.restoring is of a restore')
    } finally {
      closeSync(openSync(at('backup', 'internal-secret'), constants.O_RDWR))
      expect((await restore).stderr).toContain('internal-secret has changed since the backup')
    }
    expect(readdirSync(at('restored'))).toEqual([])
  })

  it('does not restore beside the write-ahead log of another store, which would damage it', async () => {
    await backUp()
    useDataDir('restored')
    mkdirSync(at('restored'))
    writeFileSync(at('restored', 'forms.db-wal'), 'changes')

    expect((await runFormctl(['restore', at('backup')])).stderr).toContain('forms.db-wal exists.')
  })
})

/** Overwrites the root page of a table that has rows. */
const breakPage = (path: string) => {
  let offset: number
  {
    using database = new DatabaseSync(path)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const page = Number(Object.values(database.prepare('PRAGMA page_size').get()!)[0])
    const root = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'users'").get()!.rootpage
    offset = (Number(root) - 1) * page
  }
  const bytes = readFileSync(path)
  bytes.fill(0xff, offset, offset + 512)
  writeFileSync(path, bytes)
}
