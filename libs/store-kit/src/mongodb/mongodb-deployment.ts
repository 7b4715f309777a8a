import { type Db, MongoServerError } from 'mongodb'
import { storeNotSupported } from '../errors.ts'

export interface Deployment {
  /** Version of the server, such as `8.0.17`. */
  version: string
  topology: 'replica set' | 'sharded cluster' | 'standalone server'
  /** Such as `8.0`; absent where the user must not read it, and on `mongos`, which has none. */
  featureCompatibilityVersion?: string
  localTime?: Date
}

/** Transactions of `bulkWrite` over several collections need it. */
const oldestMajorVersion = 8

/** @param database any of the deployment; the commands concern the server. */
export const readDeployment = async (database: Db): Promise<Deployment> => {
  const admin = database.admin()
  const [{ setName, msg, localTime }, { version }, compatibility] = await Promise.all([
    admin.command({ hello: 1 }),
    admin.command({ buildInfo: 1 }),
    readParameter(database, 'featureCompatibilityVersion'),
  ])
  const { version: featureCompatibilityVersion } = (compatibility.value ?? {}) as { version?: string }
  return {
    version,
    topology: msg === 'isdbgrid' ? 'sharded cluster' : setName ? 'replica set' : 'standalone server',
    ...(featureCompatibilityVersion && { featureCompatibilityVersion }),
    ...(localTime && { localTime }),
  }
}

/** @throws {ApiError} STORE_NOT_SUPPORTED for a standalone server, and for a version before 8.0. */
export const assertSupported = ({ version, topology, featureCompatibilityVersion }: Deployment): void => {
  const refuse = (what: string, advice: string) =>
    storeNotSupported(new Error(`MongoDB ${version} ${what}`), advice)
  if (isTooOld(version)) {
    throw refuse('is older than 8.0', 'Upgrade MongoDB to 8.0 or newer, one major version after another.')
  }
  if (topology === 'standalone server') {
    throw refuse(
      'is a standalone server, which has no transactions',
      "Restart it as a replica set of one: mongod --replSet rs0, then once mongosh --eval 'rs.initiate()'. It keeps its data.",
    )
  }
  if (featureCompatibilityVersion && isTooOld(featureCompatibilityVersion)) {
    throw refuse(
      `has the feature compatibility version ${featureCompatibilityVersion}`,
      `Raise it: mongosh --eval 'db.adminCommand({ setFeatureCompatibilityVersion: "${version.split('.', 2).join('.')}", confirm: true })'.`,
    )
  }
}

const isTooOld = (version: string): boolean => Number.parseInt(version, 10) < oldestMajorVersion

/** A server parameter; without `value` where the server does not report it. */
export interface ServerParameter {
  value?: unknown
  /** The user lacks the action `getParameter`, which `clusterMonitor` has. */
  isForbidden?: true
}

export const readParameter = async (database: Db, name: string): Promise<ServerParameter> => {
  try {
    const { [name]: value } = await database.admin().command({ getParameter: 1, [name]: 1 })
    return { value }
  } catch (error) {
    if (!(error instanceof MongoServerError)) throw error
    if (error.code === unauthorizedCode) return { isForbidden: true }
    if (error.code === invalidOptionsCode || error.code === commandNotFoundCode) return {}
    throw error
  }
}

const unauthorizedCode = 13
const commandNotFoundCode = 59
const invalidOptionsCode = 72
