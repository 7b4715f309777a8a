import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'

/** The tests use 400 MiB at once. Docker gives a container 64 MiB. */
const neededBytes = 2 ** 30

/**
 * Where tests keep files: on Linux in memory, if it has room and may hold programs, since `fsync` on a disk takes almost a
 * tenth of the time. The variable `TMPDIR` comes first.
 */
export const temporaryFolder = (): string =>
  process.env.TMPDIR === undefined && isUsable() ? memory : tmpdir()

const isUsable = (): boolean => {
  try {
    const mount = /^\S+ \/dev\/shm tmpfs .*/m.exec(readFileSync('/proc/mounts', 'utf8'))
    const { bavail, bsize } = statfsSync(memory)
    return mount !== null && !/\b(noexec|ro)\b/.test(mount[0]) && bavail * bsize >= neededBytes
  } catch {
    return false
  }
}
