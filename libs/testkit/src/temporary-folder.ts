import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const memory = '/dev/shm'

/** The tests use 400 MiB at once. Docker gives a container 64 MiB. */
const neededBytes = 2 ** 30

/**
 * Where tests keep files: on Linux in memory, if it has room and may hold programs, since on a disk a tenth of the time would
 * go by in `fsync`. The variable `TMPDIR` comes first.
 */
export const temporaryFolder = (): string =>
  process.env.TMPDIR === undefined && isUsable() ? memory : tmpdir()

const isUsable = (): boolean => {
  try {
    const [, options = 'noexec'] =
      /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8')) ?? []
    const { bavail, bsize } = statfsSync(memory)
    return (
      !options.split(',').some((option) => option === 'noexec' || option === 'ro') &&
      bavail * bsize >= neededBytes
    )
  } catch {
    return false
  }
}
