import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reservedBytes } from './disk-room.ts'
import { SqliteDatabase } from './sqlite-database.ts'
import { add, createNotesPath, migrations, texts } from './testing.ts'

let path: string

beforeEach(() => {
  path = createNotesPath()
})

afterEach(() => rmSync(dirname(dirname(path)), { recursive: true }))

const full = expect.objectContaining({
  status: 'UNAVAILABLE',
  reason: 'STORAGE_FULL',
  // formctl prints it after another sentence.
  parts: expect.objectContaining({ advice: expect.stringMatching(/^Its disk is full: free some room/) }),
})

describe('room for a change', () => {
  it('is there while more than the reserve is free', async () => {
    let diskFreeBytes = reservedBytes + 1
    await using database = new SqliteDatabase(path, migrations, { diskFreeBytes: () => diskFreeBytes })

    database.assertRoom()
    diskFreeBytes = reservedBytes
    expect(() => database.assertRoom()).toThrow(full)
    diskFreeBytes = reservedBytes + 1
    database.assertRoom()
  })

  it('is there in free pages of the file', async () => {
    await using database = new SqliteDatabase(path, migrations, { diskFreeBytes: () => reservedBytes })
    await add(database, 'long '.repeat(10_000))
    expect(() => database.assertRoom()).toThrow(full)

    await database.write(() => database.run('DELETE FROM notes'))

    database.assertRoom()
  })

  it('is measured on the disk of the file', async () => {
    await using database = new SqliteDatabase(path, migrations)

    database.assertRoom()
  })
})

describe('a file that cannot grow', () => {
  it('refuses changes as a full disk, and keeps what it has', async () => {
    await using database = new SqliteDatabase(path, migrations)
    await add(database, 'kept')
    database.get('PRAGMA max_page_count = 1')

    await expect(add(database, 'long '.repeat(10_000))).rejects.toEqual(full)

    expect(texts(database)).toEqual(['kept'])
  })
})
