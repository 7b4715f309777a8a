import { ApiError } from '@fms/aip'
import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
  MongoUnexpectedServerResponseError,
} from 'mongodb'
import { storeUnavailable } from '../errors.ts'
import { adviceFor, isConfigurationError, isUnconfirmed } from './mongodb-advice.ts'

/** Labels of errors that the state of the deployment causes, and not the request. */
const stateLabels = [
  'RetryableWriteError',
  'RetryableError',
  'SystemOverloadedError',
  'TransientTransactionError',
  'HandshakeError',
  'PoolRequestedRetry',
  'InterruptInUseConnections',
  'ResetPool',
]

/** Classes of such errors. */
const stateErrors = [
  MongoClientClosedError,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerSelectionError,
  MongoStalePrimaryError,
  MongoTopologyClosedError,
  MongoUnexpectedServerResponseError,
]

/**
 * Codes of such errors without a label (mongo/base/error_codes.yml): servers label the errors of writes only, so the
 * error of a read has only the code. The first three lines are those of the retryable reads specification.
 */
const stateCodes = new Set<unknown>([
  6 /* HostUnreachable */, 7 /* HostNotFound */, 89 /* NetworkTimeout */, 91 /* ShutdownInProgress */,
  134 /* ReadConcernMajorityNotAvailableYet */, 189 /* PrimarySteppedDown */, 262 /* ExceededTimeLimit */,
  9001 /* SocketException */, 10107 /* NotWritablePrimary */, 11600 /* InterruptedAtShutdown */,
  11602 /* InterruptedDueToReplStateChange */, 13435 /* NotPrimaryNoSecondaryOk */,
  13436 /* NotPrimaryOrSecondary */,
  // A cursor whose server restarted or stepped down.
  43 /* CursorNotFound */, 237 /* CursorKilled */,
  // Limits of time, locks and space. Drivers do not retry them, so they have no label, even for writes.
  24 /* LockTimeout */, 50 /* MaxTimeMSExpired */, 112 /* WriteConflict */, 14031 /* OutOfDiskSpace */,
  239 /* SnapshotTooOld */, 246 /* SnapshotUnavailable */,
  // mongos cannot reach the primary of a shard in time.
  133 /* FailedToSatisfyReadPreference */, 202 /* NetworkInterfaceExceededTimeLimit */,
])
const duplicateKeyCode = 11000

/** The wait for a pooled connection timed out, or the pool is closed. The driver exports no such classes. */
const isPoolError = (error: unknown) =>
  error instanceof Error &&
  (error.name === 'MongoWaitQueueTimeoutError' || error.name === 'MongoPoolClosedError')

/** Codes with which Node rejects a write to a socket that the other side has closed; such errors have no `syscall`. */
const closedSocketCodes = new Set<unknown>(['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'])

/** A connection broke during a write, or a name could not be resolved; the driver passes the system's error on. */
const isSystemError = (error: unknown) =>
  error instanceof Error &&
  ('syscall' in error || closedSocketCodes.has((error as NodeJS.ErrnoException).code))

const hasStateLabel = (error: unknown) =>
  error instanceof MongoError && stateLabels.some((label) => error.hasErrorLabel(label))

/** The error of the driver that ended a bulk write, such as a broken connection. The bulk write's own has no labels. */
const wrappedError = (error: unknown): unknown =>
  error instanceof MongoBulkWriteError ? error.errorResponse : undefined

const isUnavailable = (error: unknown): boolean =>
  hasStateLabel(error) ||
  stateErrors.some((type) => error instanceof type) ||
  isPoolError(error) ||
  isSystemError(error) ||
  // The write may be lost with the primary, so the caller has to retry.
  isUnconfirmed(error) ||
  isConfigurationError(error) ||
  (error instanceof MongoServerError && stateCodes.has(error.code)) ||
  (wrappedError(error) instanceof MongoError && isUnavailable(wrappedError(error)))

/** Whether a write failed because of a unique index. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKeyCode

/** Whether the engine ended a read at its time limit. @param error a result of {@link translateMongodbError}. */
export const isTimeLimit = (error: unknown): boolean => {
  const { cause } = error instanceof ApiError ? error.parts : {}
  return cause instanceof MongoServerError && cause.code === timeLimitCode
}

/** MaxTimeMSExpired. */
const timeLimitCode = 50

/**
 * Translates driver errors that concern the state or the configuration of the store to STORE_UNAVAILABLE, with advice
 * for its operator. Judges by labels and classes first. Other errors are defects and are returned unchanged.
 */
export const translateMongodbError = (error: unknown): unknown =>
  isUnavailable(error) ? storeUnavailable(error, adviceFor(error)) : error
