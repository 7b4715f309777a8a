import { ApiError } from '@fms/aip'
import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb'
import { storeUnavailable } from '../errors.ts'

const transientErrors = [
  MongoClientClosedError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  // Written, but not known to outlive the primary: the caller has to ask again.
  MongoWriteConcernError,
]

/** Codes (mongo/base/error_codes.yml) that speak of the deployment's state and not of the request. */
const transientCodes = new Set<unknown>([
  6 /* HostUnreachable */, 7 /* HostNotFound */, 24 /* LockTimeout */, 50 /* MaxTimeMSExpired */,
  64 /* WriteConcernTimeout */, 89 /* NetworkTimeout */, 91 /* ShutdownInProgress */,
  100 /* UnsatisfiableWriteConcern */, 112 /* WriteConflict */, 133 /* FailedToSatisfyReadPreference */,
  189 /* PrimarySteppedDown */, 202 /* NetworkInterfaceExceededTimeLimit */, 262 /* ExceededTimeLimit */,
  9001 /* SocketException */, 10058 /* LegacyNotPrimary */, 10107 /* NotWritablePrimary */,
  11600 /* InterruptedAtShutdown */, 11602 /* InterruptedDueToReplStateChange */,
  13435 /* NotPrimaryNoSecondaryOk */, 13436 /* NotPrimaryOrSecondary */, 14031 /* OutOfDiskSpace */,
])
const duplicateKeyCode = 11000

/** The wait for a free connection of the pool was too long. The driver exports no class for it. */
const isPoolExhausted = (error: unknown) =>
  error instanceof Error && error.name === 'MongoWaitQueueTimeoutError'

/** A connection that breaks just when it is written to: the driver passes on what the socket said, as it is. */
const isOfSocket = (error: unknown) => error instanceof Error && 'syscall' in error

const isTransient = (error: unknown) =>
  transientErrors.some((type) => error instanceof type) ||
  isPoolExhausted(error) ||
  isOfSocket(error) ||
  (error instanceof MongoServerError && transientCodes.has(error.code))

/** Whether a unique index refused a write. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKeyCode

/** Whether unique indexes refused some writes of many, and nothing else went wrong. */
export const isDuplicateKeysOnly = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError &&
  [error.writeErrors].flat().every(({ code }) => code === duplicateKeyCode) &&
  error.result.getWriteConcernError() === undefined

/** Whether the engine ended a read because it took too long. @param error of ours, as {@link translated} makes it. */
export const isTimeLimit = (error: unknown): boolean => {
  const { cause } = error instanceof ApiError ? error.parts : {}
  return cause instanceof MongoServerError && cause.code === timeLimitCode
}

/** MaxTimeMSExpired. */
const timeLimitCode = 50

/** Driver errors that tell of the store's state become ours; everything else is a defect and passes as it is. */
export const translated = (error: unknown): unknown => (isTransient(error) ? storeUnavailable(error) : error)
