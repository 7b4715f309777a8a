import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SqliteDatabase, sqlitePath, sqliteStoreExists } from './sqlite-database.ts'
import { readSqliteNote } from './sqlite-schema.ts'

const migrations = ['CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT']
const unavailable = { status: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' }

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'store-kit-'))
  path = join(directory, 'made', 'notes.db')
})

afterEach(() => rmSync(directory, { recursive: true }))

const add = (database: SqliteDatabase, text: string) =>
  database.write(() => database.run('INSERT INTO notes (text) VALUES (?)', text))

const texts = (database: SqliteDatabase) =>
  database.all('SELECT text FROM notes ORDER BY id').map((row) => row.text)

describe('write', () => {
  it('keeps the changes of a batch apart: one that throws takes back its own statements alone', async () => {
    await using database = new SqliteDatabase(path, migrations)

    const outcomes = await Promise.allSettled([
      add(database, 'first'),
      database.write(() => {
        database.run("INSERT INTO notes (text) VALUES ('half done')")
        throw new Error('thought better of it')
      }),
      add(database, 'first'),
      add(database, 'last'),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { message: 'thought better of it' } })
    expect(texts(database)).toEqual(['first', 'last'])
  })

  it('runs the others of a batch once where one throws before it writes', async () => {
    await using database = new SqliteDatabase(path, migrations)
    let runs = 0

    const outcomes = await Promise.allSettled([
      database.write(() => {
        runs++
        return database.run("INSERT INTO notes (text) VALUES ('there')")
      }),
      database.write(() => {
        texts(database)
        throw new Error('refused')
      }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(runs).toBe(1)
    expect(texts(database)).toEqual(['there'])
  })

  it('shows nothing of a change that throws to those that follow it', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const seen: unknown[][] = []

    await Promise.allSettled([
      database.write(() => {
        database.insert('notes', { text: 'half done' })
        throw new Error('thought better of it')
      }),
      database.write(() => seen.push(texts(database))),
    ])

    expect(seen).toEqual([[]])
  })

  it('shows each change what the ones before it did', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const count = () => database.get('SELECT count(*) AS count FROM notes')?.count

    const [, seen] = await Promise.all([add(database, 'one'), database.write(count)])

    expect(seen).toBe(1)
  })

  it('settles when other handles can read the change', async () => {
    await using writer = new SqliteDatabase(path, migrations)
    await using reader = new SqliteDatabase(path, migrations)

    await add(writer, 'there')

    expect(texts(reader)).toEqual(['there'])
  })

  it('gathers changes for as long as each turn of the event loop brings more', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const changes: Promise<unknown>[] = []
    const addOneATurn = (left: number) => {
      if (left > 1) setImmediate(() => addOneATurn(left - 1))
      changes.push(add(database, `${left} to go`))
    }

    addOneATurn(3)
    await changes[0]
    const statements = exec.mock.calls.flat()
    vi.restoreAllMocks()

    expect(changes).toHaveLength(3)
    expect(statements).toEqual(['BEGIN IMMEDIATE', 'COMMIT'])
  })

  it('commits eight changes without waiting for more', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const commits = () => exec.mock.calls.flat().filter((sql) => sql === 'COMMIT').length

    const eight = Array.from({ length: 8 }, (_, index) => add(database, `${index} of eight`))
    const commitsBefore = new Promise<number>((resolve) =>
      setImmediate(() => {
        eight.push(add(database, 'one more'))
        resolve(commits())
      }),
    )
    expect(await commitsBefore).toBe(1)

    await Promise.all(eight)
    vi.restoreAllMocks()
  })

  it('ends a batch once its changes have run for 10 ms, and keeps their order', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const addSlowly = (text: string) =>
      database.write(() => {
        for (const end = performance.now() + 11; performance.now() < end; );
        return database.insert('notes', { text })
      })

    await Promise.all([addSlowly('first'), addSlowly('second'), add(database, 'third')])
    const statements = exec.mock.calls.flat()
    vi.restoreAllMocks()

    expect(statements.filter((sql) => sql === 'COMMIT')).toHaveLength(3)
    expect(texts(database)).toEqual(['first', 'second', 'third'])
  })

  it('runs a change that takes long once, whatever its neighbours throw', async () => {
    await using database = new SqliteDatabase(path, migrations)
    let runs = 0

    const outcomes = await Promise.allSettled([
      add(database, 'before'),
      database.write(() => {
        runs++
        for (const end = performance.now() + 11; performance.now() < end; );
        return database.insert('notes', { text: 'long' })
      }),
      add(database, 'before'),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(runs).toBe(1)
    expect(texts(database)).toEqual(['before', 'long'])
  })

  it('lets others have a turn between two batches', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const wanted = Array.from({ length: 300 }, (_, index) => `note ${index}`)
    const seen = new Set<number>()
    let next: NodeJS.Immediate
    const look = () => {
      seen.add(texts(database).length)
      next = setImmediate(look)
    }

    look()
    await Promise.all(wanted.map((text) => add(database, text)))
    clearImmediate(next!)

    expect([...seen]).toEqual(expect.arrayContaining([0, 128, 256]))
  })

  it('takes more changes at once than one commit holds', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const wanted = Array.from({ length: 300 }, (_, index) => `note ${index}`)

    await Promise.all(wanted.map((text) => add(database, text)))

    expect(texts(database)).toEqual(wanted)
  })
})

describe('one file in several hands', () => {
  it('waits for a foreign lock while the event loop goes on', async () => {
    await using database = new SqliteDatabase(path, migrations)
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')

    const pending = add(database, 'patient')
    let turns = 0
    for (const end = performance.now() + 200; performance.now() < end; turns++) await sleep(1)
    expect(texts(database)).toEqual([])
    other.exec('COMMIT')
    await pending

    // A wait inside SQLite would leave a handful.
    expect(turns).toBeGreaterThan(20)
    expect(texts(database)).toEqual(['patient'])
  })

  it('gives up on a lock that is never let go of, and works again afterwards', async () => {
    await using database = new SqliteDatabase(path, migrations, { lockPatienceMs: 50 })
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')

    await expect(add(database, 'lost')).rejects.toMatchObject(unavailable)
    other.exec('ROLLBACK')
    await add(database, 'found')

    expect(texts(database)).toEqual(['found'])
  })

  it('loses no change of several processes that open and write it at once', async () => {
    const script = `
      import { SqliteDatabase } from ${JSON.stringify(import.meta.resolve('./sqlite-database.ts'))}
      const [path, migration, name] = process.argv.slice(1)
      await using database = new SqliteDatabase(path, [migration])
      for (let n = 0; n < 25; n++) {
        await database.write(() => database.run('INSERT INTO notes (text) VALUES (?)', name + n))
      }`
    const writer = (name: string) =>
      promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, path, migrations[0]!, name])

    await Promise.all(['a', 'b', 'c', 'd'].map(writer))

    await using database = new SqliteDatabase(path, migrations)
    expect(texts(database)).toHaveLength(100)
  })
})

describe('a new file', () => {
  it('is made by one of two processes that open it at once, and served by both', async () => {
    const script = `
      import { SqliteDatabase } from ${JSON.stringify(import.meta.resolve('./sqlite-database.ts'))}
      const [migration] = process.argv.slice(1)
      process.on('message', async (path) => {
        try {
          await new SqliteDatabase(path, [migration]).close()
          process.send('opened')
        } catch (error) {
          process.send(error.message)
        }
      })
      process.send('ready')`
    const openers = Array.from({ length: 2 }, () =>
      spawn(process.execPath, ['--input-type=module', '-e', script, migrations[0]!], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    )
    const answers = async () => (await Promise.all(openers.map((child) => once(child, 'message')))).flat()
    await answers()

    for (let round = 0; round < 100; round++) {
      const opened = answers()
      for (const child of openers) child.send(join(directory, `${round}.db`))
      expect((await opened).filter((answer) => typeof answer === 'string')).toEqual(['opened', 'opened'])
    }

    for (const child of openers) child.disconnect()
    await Promise.all(openers.map((child) => once(child, 'exit')))
  })
})

describe('migrations', () => {
  it('run once each, in order, whoever opens the file', async () => {
    const more = [...migrations, "INSERT INTO notes (text) VALUES ('from the second script')"]
    await new SqliteDatabase(path, migrations).close()
    await new SqliteDatabase(path, more).close()

    await using database = new SqliteDatabase(path, more)

    expect(texts(database)).toEqual(['from the second script'])
  })

  it('that another process runs show at once in rows of all columns', async () => {
    await using database = new SqliteDatabase(path, migrations)
    await add(database, 'first')
    const read = () => [
      database.get('SELECT * FROM notes'),
      ...database.all('SELECT * FROM notes'),
      ...database.iterate('SELECT * FROM notes'),
    ]
    expect(read()).toEqual(Array(3).fill({ id: 1, text: 'first' }))

    await new SqliteDatabase(path, [...migrations, 'ALTER TABLE notes ADD COLUMN colour TEXT']).close()

    expect(read()).toEqual(Array(3).fill({ id: 1, text: 'first', colour: null }))
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

  it.each([false, true])('is not opened by one that it does not admit (readOnly: %s)', async (readOnly) => {
    await new SqliteDatabase(path, newer).close()
    const before = readFileSync(path)

    expect(() => new SqliteDatabase(path, migrations, { readOnly })).toThrow(expect.objectContaining(tooNew))
    expect(readFileSync(path)).toEqual(before)
  })

  it.each([false, true])(
    'serves one that it admits, and keeps its numbers (readOnly: %s)',
    async (readOnly) => {
      await new SqliteDatabase(path, compatible).close()

      {
        await using older = new SqliteDatabase(path, migrations, { readOnly })
        older.ping()
        if (!readOnly) await add(older, 'first')
      }

      using file = new DatabaseSync(path)
      expect(readSqliteNote(file)).toEqual({ version: 2, oldestVersion: 1 })
    },
  )

  it('admits no release that an earlier step has shut out', async () => {
    await new SqliteDatabase(path, [...newer, { script: 'SELECT 1', oldestVersion: 1 }]).close()

    expect(() => new SqliteDatabase(path, migrations)).toThrow(
      expect.objectContaining({ reason: 'STORE_SCHEMA_TOO_NEW' }),
    )
  })

  it('refuses reads, changes and probes of one that has it open', async () => {
    await using older = new SqliteDatabase(path, migrations)
    await add(older, 'first')

    await new SqliteDatabase(path, newer).close()

    expect(() => texts(older)).toThrow(expect.objectContaining(tooNew))
    expect(() => older.ping()).toThrow(expect.objectContaining(tooNew))
    await expect(add(older, 'second')).rejects.toMatchObject(tooNew)
  })

  it('refuses a change that it would take, and leaves the file as it is', async () => {
    await using older = new SqliteDatabase(path, migrations)
    await using younger = new SqliteDatabase(path, [
      ...migrations,
      'ALTER TABLE notes ADD COLUMN colour TEXT',
    ])

    const changes = await Promise.allSettled([add(older, 'first'), add(older, 'second')])

    expect(changes).toEqual(Array(2).fill({ status: 'rejected', reason: expect.objectContaining(tooNew) }))
    expect(texts(younger)).toEqual([])
  })

  it('opens for the next release where the one before has noted no oldest version', async () => {
    await new SqliteDatabase(path, migrations).close()
    {
      using file = new DatabaseSync(path)
      file.exec('DROP TABLE schemaNote')
      expect(readSqliteNote(file)).toEqual({ version: 1, oldestVersion: 1 })
    }

    await new SqliteDatabase(path, compatible).close()

    using file = new DatabaseSync(path)
    expect(readSqliteNote(file)).toEqual({ version: 2, oldestVersion: 1 })
  })
})

describe('close', () => {
  it('waits for the changes under way', async () => {
    const database = new SqliteDatabase(path, migrations)

    const pending = add(database, 'just in time')
    await database.close()
    await pending

    await using again = new SqliteDatabase(path, migrations)
    expect(texts(again)).toEqual(['just in time'])
  })

  it('leaves a store that is UNAVAILABLE to reads and changes, and can be asked for again', async () => {
    const database = new SqliteDatabase(path, migrations)
    await database.close()

    await expect(add(database, 'too late')).rejects.toMatchObject(unavailable)
    expect(() => texts(database)).toThrow(expect.objectContaining(unavailable))
    await database.close()
  })
})

describe('errors', () => {
  it('passes a defect on as it is', async () => {
    await using database = new SqliteDatabase(path, migrations)

    expect(() => database.all('SELECT nonsense')).toThrow('no such column')
  })
})

describe('sqlitePath', () => {
  it('is what follows sqlite:', () => {
    expect(sqlitePath('sqlite:.data/forms.db')).toBe('.data/forms.db')
    expect(sqlitePath('sqlite::memory:')).toBe(':memory:')
  })

  it('refuses another scheme without repeating the rest, which may hold a password', () => {
    expect(() => sqlitePath('mongodb://user:secret@host')).toThrow(/^Not a sqlite: URL: mongodb:…$/)
  })
})

describe('a file that is only read', () => {
  const openReadOnly = (scripts = migrations) =>
    new SqliteDatabase(path, scripts, { lockPatienceMs: 50, readOnly: true })

  it('is left as it is, also while others write', async () => {
    await using writer = new SqliteDatabase(path, migrations)
    await add(writer, 'first')
    const before = readFileSync(path)
    await using reader = openReadOnly()

    expect(texts(reader)).toEqual(['first'])
    await expect(add(reader, 'refused')).rejects.toMatchObject(unavailable)
    expect(readFileSync(path)).toEqual(before)
    await add(writer, 'second')
    expect(texts(reader)).toEqual(['first', 'second'])
  })

  it('has to be there, and to have all migrations', async () => {
    expect(() => openReadOnly()).toThrow('unable to open')
    expect(existsSync(path)).toBe(false)
    await new SqliteDatabase(path, migrations).close()

    expect(() => openReadOnly([...migrations, 'CREATE TABLE more (id INTEGER) STRICT'])).toThrow(
      expect.objectContaining({ reason: 'STORE_NOT_MIGRATED' }),
    )
  })
})

describe('snapshot', () => {
  it('sees one state, whatever others write meanwhile', async () => {
    await using database = new SqliteDatabase(path, migrations)
    await add(database, 'first')
    using other = new DatabaseSync(path)

    const seen = database.snapshot(() => {
      const before = texts(database)
      other.exec("INSERT INTO notes (text) VALUES ('second')")
      return [before, texts(database)]
    })

    expect(seen).toEqual([['first'], ['first']])
    expect(texts(database)).toEqual(['first', 'second'])
  })

  it('serves while a change is on its way, and passes on what the work throws', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const change = add(database, 'first')
    for (let turn = 0; turn < 5; turn++) {
      database.snapshot(() => texts(database))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await change

    expect(() =>
      database.snapshot(() => {
        throw new Error('thought better of it')
      }),
    ).toThrow('thought better of it')
    expect(database.snapshot(() => texts(database))).toEqual(['first'])
  })
})

describe('sqliteStoreExists', () => {
  it('tells whether a file has a table, and makes neither', async () => {
    expect(sqliteStoreExists(path, 'notes')).toBe(false)
    expect(existsSync(path)).toBe(false)
    await new SqliteDatabase(path, migrations).close()

    expect(sqliteStoreExists(path, 'notes')).toBe(true)
    expect(sqliteStoreExists(path, 'others')).toBe(false)
  })
})
