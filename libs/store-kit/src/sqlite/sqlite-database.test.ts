import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unlessAborted } from './sql.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { add, createNotesPath, migrations, texts, unavailable } from './testing.ts'

let path: string

beforeEach(() => {
  path = createNotesPath()
})

afterEach(() => rmSync(dirname(dirname(path)), { recursive: true }))

describe('a file that other processes use', () => {
  it('waits for the lock of another process without blocking the event loop', async () => {
    await using database = new SqliteDatabase(path, migrations)
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')

    const pending = add(database, 'waiting')
    for (let turn = 0; turn < 20; turn++) await sleep(1)
    expect(texts(database)).toEqual([])
    other.exec('COMMIT')
    await pending

    expect(texts(database)).toEqual(['waiting'])
  })

  it('opens while another process has the lock', async () => {
    await new SqliteDatabase(path, migrations).close()
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')

    await using database = new SqliteDatabase(path, migrations)

    expect(texts(database)).toEqual([])
  })

  it('fails when the lock times out, and works after its release', async () => {
    await using database = new SqliteDatabase(path, migrations, { lockTimeoutMs: 50 })
    using other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')

    await expect(add(database, 'lost')).rejects.toMatchObject(unavailable)
    other.exec('ROLLBACK')
    await add(database, 'found')

    expect(texts(database)).toEqual(['found'])
  })

  it('loses no change when four processes open and write it concurrently', async () => {
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
  it('can be opened by two processes concurrently', async () => {
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
    const messages = async () => (await Promise.all(openers.map((child) => once(child, 'message')))).flat()
    await messages()

    for (let round = 0; round < 100; round++) {
      const opened = messages()
      for (const child of openers) child.send(join(dirname(path), `${round}.db`))
      expect((await opened).filter((message) => typeof message === 'string')).toEqual(['opened', 'opened'])
    }

    for (const child of openers) child.disconnect()
    await Promise.all(openers.map((child) => once(child, 'exit')))
  })
})

describe('a read-only file', () => {
  const openReadOnly = (scripts = migrations) =>
    new SqliteDatabase(path, scripts, { lockTimeoutMs: 50, readOnly: true })

  it('is not changed, and shows the changes of other connections', async () => {
    await using writer = new SqliteDatabase(path, migrations)
    await add(writer, 'first')
    const before = readFileSync(path)
    await using reader = openReadOnly()

    expect(texts(reader)).toEqual(['first'])
    await expect(add(reader, 'rejected')).rejects.toMatchObject(unavailable)
    expect(readFileSync(path)).toEqual(before)
    await add(writer, 'second')
    expect(texts(reader)).toEqual(['first', 'second'])
  })

  it('has to exist and to have all migrations', async () => {
    expect(() => openReadOnly()).toThrow('unable to open')
    expect(existsSync(path)).toBe(false)
    await new SqliteDatabase(path, migrations).close()

    expect(() => openReadOnly([...migrations, 'CREATE TABLE more (id INTEGER) STRICT'])).toThrow(
      expect.objectContaining({ reason: 'STORE_NOT_MIGRATED' }),
    )
  })
})

describe('snapshot', () => {
  it('ends within a statement with the error of its check, and not the next one', async () => {
    await using database = new SqliteDatabase(path, migrations)
    await Promise.all(Array.from({ length: 100 }, (_, index) => add(database, `${index}`)))
    const count = () => {
      const { sql } = unlessAborted('rowid')
      return database.get(`SELECT count(*) AS count FROM notes WHERE ${sql}`)?.count
    }
    let checks = 0
    const check = () => {
      if (++checks === 4) throw new Error('no longer wanted')
    }

    expect(() => database.snapshot(count, check)).toThrow('no longer wanted')
    // One before the statement, and one for every 16th row of it.
    expect(checks).toBe(4)
    expect(count()).toBe(100)
  })

  it('sees one state while other connections write', async () => {
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

  it('works during a change, and passes on errors of its work', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const change = add(database, 'first')
    for (let turn = 0; turn < 5; turn++) {
      database.snapshot(() => texts(database))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await change

    expect(() =>
      database.snapshot(() => {
        throw new Error('changed its mind')
      }),
    ).toThrow('changed its mind')
    expect(() =>
      database.snapshot(() => {
        // As SQLite itself does when the disk fails.
        database.all('ROLLBACK')
        throw new Error('disk I/O error')
      }),
    ).toThrow('disk I/O error')
    expect(database.snapshot(() => texts(database))).toEqual(['first'])
  })
})

describe('close', () => {
  it('waits for queued changes', async () => {
    const database = new SqliteDatabase(path, migrations)

    const pending = add(database, 'just in time')
    await database.close()
    await pending

    await using again = new SqliteDatabase(path, migrations)
    expect(texts(again)).toEqual(['just in time'])
  })

  it('makes reads and changes fail with UNAVAILABLE, and may be repeated', async () => {
    const database = new SqliteDatabase(path, migrations)
    await database.close()

    await expect(add(database, 'too late')).rejects.toMatchObject(unavailable)
    expect(() => texts(database)).toThrow(expect.objectContaining(unavailable))
    await database.close()
  })
})

describe('errors', () => {
  it('passes a defect on unchanged', async () => {
    await using database = new SqliteDatabase(path, migrations)

    expect(() => database.all('SELECT nonsense')).toThrow('no such column')
  })
})
