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
  // The write may be lost with the primary, so the caller has to retry.
  MongoWriteConcernError,
]

/** Codes (mongo/base/error_codes.yml) that concern the state of the deployment and not the request. */
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

/** The wait for a pooled connection timed out. The driver exports no class for this error. */
const isPoolExhausted = (error: unknown) =>
  error instanceof Error && error.name === 'MongoWaitQueueTimeoutError'

/** A connection broke during a write; the driver passes the socket's error on. */
const isSocketError = (error: unknown) => error instanceof Error && 'syscall' in error

const isTransient = (error: unknown) =>
  transientErrors.some((type) => error instanceof type) ||
  isPoolExhausted(error) ||
  isSocketError(error) ||
  (error instanceof MongoServerError && transientCodes.has(error.code))

/** Whether a write failed because of a unique index. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKeyCode

/** Whether all failed writes of a bulk write failed because of unique indexes. */
export const isDuplicateKeysOnly = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError &&
  [error.writeErrors].flat().every(({ code }) => code === duplicateKeyCode) &&
  error.result.getWriteConcernError() === undefined

/** Whether the engine ended a read at its time limit. @param error a result of {@link translateMongodbError}. */
export const isTimeLimit = (error: unknown): boolean => {
  const { cause } = error instanceof ApiError ? error.parts : {}
  return cause instanceof MongoServerError && cause.code === timeLimitCode
}

/** MaxTimeMSExpired. */
const timeLimitCode = 50

/** Translates driver errors that concern the state of the store to STORE_UNAVAILABLE. Other errors are returned unchanged. */
export const translateMongodbError = (error: unknown): unknown =>
  isTransient(error) ? storeUnavailable(error) : error
