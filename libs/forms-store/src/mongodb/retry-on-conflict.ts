import type { writeConflict } from '@fms/store-kit/mongodb'
import type { FormRef } from '../forms-store.ts'

/** Repeats a compare-and-set of a form until it succeeds, or UPDATE_ABORTED. */
export type RetryOnConflict = <T>(
  ref: FormRef,
  attempt: () => Promise<T | typeof writeConflict>,
) => Promise<T>
