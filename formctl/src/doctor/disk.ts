import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Check, fail, ok, reasonOf, warn } from './check.ts'

const mebibyte = 1024 ** 2
const warnMiB = 1024
const failMiB = 100

export const checkDisk = async (dataDir: string): Promise<Check> => {
  try {
    const { bavail, bsize } = await statfs(nearestFolder(resolve(dataDir)))
    return checkFreeSpace(dataDir, (bavail * bsize) / mebibyte)
  } catch (error) {
    return fail('disk', reasonOf(error), `Set DATA_DIR to a readable folder; it is ${dataDir}.`)
  }
}

export const checkFreeSpace = (dataDir: string, freeMiB: number): Check => {
  const message = `${Math.floor(freeMiB).toLocaleString('en')} MiB are free for ${dataDir}`
  const advice = 'Free some space, or move DATA_DIR to a larger disk. On a full disk, writes fail with 503.'
  if (freeMiB < failMiB) return fail('disk', message, advice)
  return freeMiB < warnMiB ? warn('disk', message, advice) : ok('disk', message)
}

/** The folder itself, or its nearest parent that exists. */
const nearestFolder = (path: string): string => (existsSync(path) ? path : nearestFolder(dirname(path)))
