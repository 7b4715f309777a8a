import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'

/** Bytes that growing changes leave free, so that deletes still find room. */
export const reservedBytes = 64 * 1024 ** 2

/** Bytes below which an operator should make room. The alert `DiskLow` has it, too. */
export const lowBytes = 2 * 1024 ** 3

/** How long a measured value is used, in milliseconds: the forms of all callers are far less than the reserve in this time. */
const validMs = 100

export const measureFreeBytes = (path: string): (() => number) => {
  if (path === ':memory:') return () => Number.POSITIVE_INFINITY
  const folder = dirname(path)
  let freeBytes = 0
  let validUntilMs = 0
  return () => {
    if (performance.now() < validUntilMs) return freeBytes
    const { bavail, bsize } = statfsSync(folder)
    freeBytes = bavail * bsize
    validUntilMs = performance.now() + validMs
    return freeBytes
  }
}
