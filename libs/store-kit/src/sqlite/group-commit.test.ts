import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SqliteDatabase } from './sqlite-database.ts'
import { add, createNotesPath, migrations, texts } from './testing.ts'

let path: string

beforeEach(() => {
  path = createNotesPath()
})

afterEach(() => rmSync(dirname(dirname(path)), { recursive: true }))

describe('GroupCommit', () => {
  it('rolls back only the statements of a change that throws, and commits the rest of its batch', async () => {
    await using database = new SqliteDatabase(path, migrations)

    const outcomes = await Promise.allSettled([
      add(database, 'first'),
      database.write(() => {
        database.run("INSERT INTO notes (text) VALUES ('half done')")
        throw new Error('changed its mind')
      }),
      add(database, 'first'),
      add(database, 'last'),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { message: 'changed its mind' } })
    expect(texts(database)).toEqual(['first', 'last'])
  })

  it('runs the rest of a batch once when a change throws before it writes', async () => {
    await using database = new SqliteDatabase(path, migrations)
    let runs = 0

    const outcomes = await Promise.allSettled([
      database.write(() => {
        runs++
        return database.run("INSERT INTO notes (text) VALUES ('there')")
      }),
      database.write(() => {
        texts(database)
        throw new Error('rejected')
      }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(runs).toBe(1)
    expect(texts(database)).toEqual(['there'])
  })

  it('hides the statements of a change that throws from the changes after it', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const seen: unknown[][] = []

    await Promise.allSettled([
      database.write(() => {
        database.insert('notes', { text: 'half done' })
        throw new Error('changed its mind')
      }),
      database.write(() => seen.push(texts(database))),
    ])

    expect(seen).toEqual([[]])
  })

  it('shows each change the results of the changes before it', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const count = () => database.get('SELECT count(*) AS count FROM notes')?.count

    const [, seen] = await Promise.all([add(database, 'one'), database.write(count)])

    expect(seen).toBe(1)
  })

  it('settles when other connections can read the change', async () => {
    await using writer = new SqliteDatabase(path, migrations)
    await using reader = new SqliteDatabase(path, migrations)

    await add(writer, 'there')

    expect(texts(reader)).toEqual(['there'])
  })

  it('batches changes while each iteration of the event loop queues more', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const exec = vi.spyOn(DatabaseSync.prototype, 'exec')
    const changes: Promise<unknown>[] = []
    const addOnePerTurn = (left: number) => {
      if (left > 1) setImmediate(() => addOnePerTurn(left - 1))
      changes.push(add(database, `${left} to go`))
    }

    addOnePerTurn(3)
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

  it('ends a batch once its changes have run for 10 ms, and keeps the order of a caller', async () => {
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

  it('runs a long change once, even when other changes of its batch throw', async () => {
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

  it('takes the changes of callers in turn', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const addFor = (organization: string, user: string, text: string) =>
      database.write(() => database.insert('notes', { text }), { organization, user })

    await Promise.all([
      ...['1', '2', '3', '4'].map((text) => addFor('one', 'first', `first ${text}`)),
      addFor('one', 'second', 'second 1'),
      addFor('other', 'third', 'third 1'),
      addFor('other', 'third', 'third 2'),
    ])

    expect(texts(database)).toEqual([
      ...['first 1', 'third 1', 'second 1', 'third 2', 'first 2', 'first 3', 'first 4'],
    ])
  })

  it('commits a newcomer before the backlog of another caller', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const flow = { organization: 'busy', user: 'busy' }
    const backlog = Array.from({ length: 300 }, (_, index) =>
      database.write(() => database.insert('notes', { text: `${index}` }), flow),
    )

    await backlog[0]
    await add(database, 'newcomer')
    const noted = texts(database)
    await Promise.all(backlog)

    expect(noted).toContain('newcomer')
    expect(noted.length).toBeLessThan(300)
  })

  it('yields to the event loop between two batches', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const expected = Array.from({ length: 300 }, (_, index) => `note ${index}`)
    const seen = new Set<number>()
    let next: NodeJS.Immediate
    const readCount = () => {
      seen.add(texts(database).length)
      next = setImmediate(readCount)
    }

    readCount()
    await Promise.all(expected.map((text) => add(database, text)))
    clearImmediate(next!)

    // A batch has at most 128 changes, fewer where they take more than 10 ms.
    expect([...seen].filter((count) => count > 0 && count < 300).length).toBeGreaterThanOrEqual(2)
  })

  it('commits more concurrent changes than fit into one batch', async () => {
    await using database = new SqliteDatabase(path, migrations)
    const expected = Array.from({ length: 300 }, (_, index) => `note ${index}`)

    await Promise.all(expected.map((text) => add(database, text)))

    expect(texts(database)).toEqual(expected)
  })
})
