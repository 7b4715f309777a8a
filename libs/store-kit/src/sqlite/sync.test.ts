import { fstatSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SqliteDatabase } from './sqlite-database.ts'
import { add, createNotesPath, migrations, texts, unavailable } from './testing.ts'

interface Sync {
  file: number
  end: PromiseWithResolvers<void>
}

let path: string
let database: SqliteDatabase
let syncs: Sync[]

const nextSync = () => vi.waitUntil(() => syncs.shift(), { interval: 1, timeout: 5_000 })

beforeEach(() => {
  path = createNotesPath()
  syncs = []
  const sync = (file: number) => {
    const end = Promise.withResolvers<void>()
    syncs.push({ file, end })
    return end.promise
  }
  database = new SqliteDatabase(path, migrations, { sync })
})

afterEach(async () => {
  await database.close()
  rmSync(dirname(dirname(path)), { recursive: true })
})

it('settles a change when the disk has the write-ahead log; meanwhile reads run and the next change is queued', async () => {
  const settled: string[] = []
  const first = add(database, 'first').then(() => settled.push('first'))

  const sync = await nextSync()
  const second = add(database, 'second').then(() => settled.push('second'))
  expect(fstatSync(sync.file).ino).toBe(statSync(`${path}-wal`).ino)
  expect(texts(database)).toEqual(['first'])
  expect(settled).toEqual([])

  sync.end.resolve()
  await first
  const next = await nextSync()
  expect(texts(database)).toEqual(['first', 'second'])
  expect(settled).toEqual(['first'])

  next.end.resolve()
  await second
  expect(settled).toEqual(['first', 'second'])
})

it('rejects the changes of a sync that failed, and all later ones', async () => {
  const changes = Promise.allSettled([add(database, 'first'), add(database, 'second')])

  const sync = await nextSync()
  sync.end.reject(new Error('EIO: i/o error, fdatasync'))

  const rejected = { status: 'rejected', reason: expect.objectContaining(unavailable) }
  expect(await changes).toEqual([rejected, rejected])
  await expect(add(database, 'third')).rejects.toMatchObject(unavailable)
  expect(() => database.ping()).toThrow(expect.objectContaining(unavailable))
  expect(texts(database)).toEqual(['first', 'second'])
})
