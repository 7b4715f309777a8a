export * from './api-key.ts'
export {
  type DirectoryRecord,
  directoryRecordKey,
  directoryRecordName,
  type ImportResult,
} from './directory-record.ts'
export * from './directory-store.ts'
export * from './errors.ts'
export * from './inputs.ts'
export * from './open-directory-store.ts'
export * from './resources.ts'
