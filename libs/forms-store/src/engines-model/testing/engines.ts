import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SqliteDatabase } from '@fms/store-kit'
import type { TestMongodb } from '@fms/testkit/mongodb'
import { recordMongodb } from '@fms/testkit/mongodb/mongodb-recorder'
import { MongoClient } from 'mongodb'
import { vi } from 'vitest'
import type { FormsStore, FormsStoreOptions } from '../../forms-store.ts'
import { migrateFormsStore, openFormsStore } from '../../open-forms-store.ts'

/** Where a change is killed. */
export interface Kill {
  /** The number of its request or of its statement that writes, from 1. */
  at: number
  /** Whether the engine carries that request out. */
  isCarriedOut: boolean
}

/** An engine with one store. */
export interface Engine extends AsyncDisposable {
  name: string
  open(options: FormsStoreOptions): Promise<FormsStore>
  /**
   * Runs a change in a client that is killed, unless the change ends before.
   *
   * @returns undefined if it was killed.
   */
  killDuring<T>(
    options: FormsStoreOptions,
    kill: Kill,
    change: (store: FormsStore) => Promise<T>,
  ): Promise<T | undefined>
}

export const startSqlite = async (): Promise<Engine> => {
  const directory = mkdtempSync(join(tmpdir(), 'forms-store-'))
  const open = (options: FormsStoreOptions) =>
    openFormsStore(`sqlite:${join(directory, 'forms.db')}`, options)
  return {
    name: 'SQLite',
    open,
    killDuring: async (options, { at, isCarriedOut }, change) => {
      await using store = await open(options)
      let statements = 0
      const { run } = SqliteDatabase.prototype
      const spy = vi.spyOn(SqliteDatabase.prototype, 'run').mockImplementation(function (
        this: SqliteDatabase,
        ...args
      ) {
        if (++statements === at && !isCarriedOut) throw new Error('Killed')
        return run.apply(this, args)
      })
      try {
        const result = await change(store)
        return isCarriedOut && statements >= at ? undefined : result
      } catch (error) {
        if ((error as Error).message === 'Killed') return undefined
        throw error
      } finally {
        spy.mockRestore()
      }
    },
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true }),
  }
}

/** @param mongo is disposed of with the engine. */
export const startMongodb = async (mongo: TestMongodb): Promise<Engine> => {
  await migrateFormsStore(mongo.url)
  const admin = new MongoClient(mongo.url)
  const killed: Promise<unknown>[] = []
  const endTransactions = async (commands: { autocommit?: boolean; lsid?: { id: unknown } }[]) => {
    const open = commands
      .filter(({ autocommit }) => autocommit === false)
      .map(({ lsid }) => ({ id: lsid!.id }))
    if (open.length > 0) await admin.db('admin').command({ killSessions: open })
  }
  return {
    name: 'MongoDB',
    open: (options) => openFormsStore(mongo.url, options),
    killDuring: async (options, { at, isCarriedOut }, change) => {
      const recorder = await recordMongodb(mongo.url)
      const store = await openFormsStore(recorder.url, options)
      // Connects.
      await store.findOrganizationOf('none')
      recorder.take()
      const breaks = recorder.breakAt({ command: at, isCarriedOut, isFinal: true })
      const pending = change(store)
      const end = async () => {
        await pending.catch(() => {})
        await store.close()
        await recorder[Symbol.asyncDispose]()
      }
      const outcome = await Promise.race([breaks, pending])
      killed.push(end())
      // A killed client leaves a transaction open, until its lifetime has passed.
      await endTransactions(recorder.take())
      return outcome as Awaited<typeof pending> | undefined
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(killed)
      await admin.close()
      await mongo[Symbol.asyncDispose]()
    },
  }
}
