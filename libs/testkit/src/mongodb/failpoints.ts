import { MongoClient, MongoServerError } from 'mongodb'
import { reportToolchain } from '../machine/toolchains.ts'
import type { TestMongodb } from '../mongodb.ts'

/** What commands of a client get (`failCommand` of MongoDB's test commands). */
export interface CommandFailure {
  /** Names of commands, such as `find` or `update`. */
  failCommands: string[]
  /** The command is not executed, and fails with this code. */
  errorCode?: number
  errorLabels?: string[]
  /** The command is executed, but its response says that its write concern failed. */
  writeConcernError?: { code: number; errmsg: string }
  /** The connection is closed without a response. */
  closeConnection?: boolean
  /** Delays the command by `blockTimeMS` milliseconds. */
  blockConnection?: boolean
  blockTimeMS?: number
}

/** Failures that a server injects into the commands of some clients. */
export interface Failpoints extends AsyncDisposable {
  /** The URL of the clients that are affected. */
  url: string
  /** Injects a failure into all matching commands while `work` runs, or into the first `times` of them. */
  during<T>(failure: CommandFailure, work: () => Promise<T>, times?: number): Promise<T>
}

/** The response of a server that does not know the command, or does not allow it. */
const unsupportedCodes = new Set<unknown>([13 /* Unauthorized */, 59 /* CommandNotFound */])

/**
 * Prepares failpoints on a server: secantusdb, or MongoDB with `enableTestCommands`.
 *
 * @returns undefined for other engines. The report of the test run then says that these tests did not run.
 */
export const openFailpoints = async ({ url, engine }: TestMongodb): Promise<Failpoints | undefined> => {
  const client = new MongoClient(url)
  const configure = (mode: 'off' | 'alwaysOn' | { times: number }, data?: object) =>
    client.db('admin').command({ configureFailPoint: 'failCommand', mode, ...(data && { data }) })
  try {
    await configure('off')
  } catch (error) {
    await client.close()
    if (!(error instanceof MongoServerError && unsupportedCodes.has(error.code))) throw error
    reportToolchain(`Failpoints of MongoDB: not tested, ${engine} has none.`)
    return undefined
  }
  const appName = 'failpoints'
  return {
    url: `${url}${url.includes('?') ? '&' : '?'}appName=${appName}`,
    during: async (failure, work, times) => {
      await configure(times === undefined ? 'alwaysOn' : { times }, { appName, ...failure })
      try {
        return await work()
      } finally {
        await configure('off')
      }
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
