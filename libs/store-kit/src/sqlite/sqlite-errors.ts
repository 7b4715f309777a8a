import { storageFull, storeUnavailable } from '../errors.ts'

/** Result codes (sqlite.org/rescode.html) that concern the state of the store and not the statement. */
const transientCodes = new Set([
  5 /* BUSY */, 6 /* LOCKED */, 8 /* READONLY */, 10 /* IOERR */, 14 /* CANTOPEN */,
])
const busyCode = 5
const fullCode = 13
/** SQLITE_ERROR. Missing tables, columns and functions have this code. */
const sqlErrorCode = 1

/** Whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => errorCode(error) === busyCode

/**
 * Translates an error of the store's state to STORE_UNAVAILABLE or STORAGE_FULL. An error of a statement becomes
 * `schemaError()` where that returns one: a newer schema makes statements fail. Other errors are defects, unchanged.
 */
export const translateSqliteError = (error: unknown, schemaError: () => unknown): unknown => {
  if (errorCode(error) === fullCode) return storageFull(error)
  if (isClosed(error) || transientCodes.has(errorCode(error) ?? 0)) return storeUnavailable(error)
  return errorCode(error) === sqlErrorCode ? (schemaError() ?? error) : error
}

/** The primary result code. */
const errorCode = (error: unknown) =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined

/** The driver throws this error for every call after `close`. */
const isClosed = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
