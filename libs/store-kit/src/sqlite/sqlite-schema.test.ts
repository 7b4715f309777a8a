import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteDatabase } from './sqlite-database.ts'
import { readSqliteVersion } from './sqlite-schema.ts'
import { add, createNotesPath, migrations, texts } from './testing.ts'

let path: string

beforeEach(() => {
  path = createNotesPath()
})

afterEach(() => rmSync(dirname(dirname(path)), { recursive: true }))

describe('migrations', () => {
  it('run once each, in order, when the file is opened repeatedly', async () => {
    const more = [...migrations, "INSERT INTO notes (text) VALUES ('from the second script')"]
    await new SqliteDatabase(path, migrations).close()
    await new SqliteDatabase(path, more).close()

    await using database = new SqliteDatabase(path, more)

    expect(texts(database)).toEqual(['from the second script'])
  })

  it('by another process change the columns of rows immediately', async () => {
    await using database = new SqliteDatabase(path, migrations)
    await add(database, 'first')
    const read = () => [database.get('SELECT * FROM notes'), ...database.all('SELECT * FROM notes')]
    expect(read()).toEqual(Array(2).fill({ id: 1, text: 'first' }))

    await new SqliteDatabase(path, [...migrations, 'ALTER TABLE notes ADD COLUMN colour TEXT']).close()

    expect(read()).toEqual(Array(2).fill({ id: 1, text: 'first', colour: null }))
  })
})

describe('a file that a newer release has migrated', () => {
  const newer = [...migrations, 'ALTER TABLE notes RENAME TO letters']
  const compatible = [...migrations, { script: 'CREATE INDEX by_text ON notes (text)', oldestVersion: 1 }]
  const tooNew = {
    status: 'UNAVAILABLE',
    reason: 'STORE_SCHEMA_TOO_NEW',
    message: expect.stringContaining('Upgrade this service, or restore the backup'),
    parts: {
      metadata: { store: 'notes.db', knownVersion: '1', version: '2', oldestVersion: '2' },
      retryAfterSeconds: 1,
    },
  }

  it.each([false, true])('cannot be opened by an excluded release (readOnly: %s)', async (readOnly) => {
    await new SqliteDatabase(path, newer).close()
    const before = readFileSync(path)

    expect(() => new SqliteDatabase(path, migrations, { readOnly })).toThrow(expect.objectContaining(tooNew))
    expect(readFileSync(path)).toEqual(before)
  })

  it.each([false, true])(
    'can be used by a compatible release, which keeps the versions (readOnly: %s)',
    async (readOnly) => {
      await new SqliteDatabase(path, compatible).close()

      {
        await using older = new SqliteDatabase(path, migrations, { readOnly })
        older.ping()
        if (!readOnly) await add(older, 'first')
      }

      using file = new DatabaseSync(path)
      expect(readSqliteVersion(file)).toEqual({ version: 2, oldestVersion: 1 })
    },
  )

  it('excludes the releases that an earlier migration has excluded', async () => {
    await new SqliteDatabase(path, [...newer, { script: 'SELECT 1', oldestVersion: 1 }]).close()

    expect(() => new SqliteDatabase(path, migrations)).toThrow(
      expect.objectContaining({ reason: 'STORE_SCHEMA_TOO_NEW' }),
    )
  })

  it('fails reads, changes and pings of an excluded release that has it open', async () => {
    await using older = new SqliteDatabase(path, migrations)
    await add(older, 'first')

    await new SqliteDatabase(path, newer).close()

    expect(() => texts(older)).toThrow(expect.objectContaining(tooNew))
    expect(() => older.ping()).toThrow(expect.objectContaining(tooNew))
    await expect(add(older, 'second')).rejects.toMatchObject(tooNew)
  })

  it('rejects changes of an excluded release and stays unchanged', async () => {
    await using older = new SqliteDatabase(path, migrations)
    await using younger = new SqliteDatabase(path, [
      ...migrations,
      'ALTER TABLE notes ADD COLUMN colour TEXT',
    ])

    const changes = await Promise.allSettled([add(older, 'first'), add(older, 'second')])

    expect(changes).toEqual(Array(2).fill({ status: 'rejected', reason: expect.objectContaining(tooNew) }))
    expect(texts(younger)).toEqual([])
  })

  it('can be migrated when the earlier release has recorded no oldest version', async () => {
    await new SqliteDatabase(path, migrations).close()
    {
      using file = new DatabaseSync(path)
      file.exec('DROP TABLE schemaNote')
      expect(readSqliteVersion(file)).toEqual({ version: 1, oldestVersion: 1 })
    }

    await new SqliteDatabase(path, compatible).close()

    using file = new DatabaseSync(path)
    expect(readSqliteVersion(file)).toEqual({ version: 2, oldestVersion: 1 })
  })
})
