import { setImmediate } from 'node:timers/promises'
import type { PreconditionViolation } from '@fms/contracts'
import { breakingViolations } from '@fms/drafts'
import { parseDraft, parseSnapshot, type StoredForm, type StoredRevision } from '@fms/forms-store'
import { FairQueue } from '@fms/service-kit'

/** A draft and a snapshot that have more characters together are compared in turns. */
const largeLength = 64 * 1024

/** Of this process, because comparisons share its event loop. Each task holds up to 1.5 MiB of JSON. */
const largeComparisons = new FairQueue({ concurrency: 1, maxPerKey: 32, maxTasks: 96 })

/**
 * The breaking changes of a draft since the live revision. Large comparisons take up to 80 ms of the event loop each:
 * they run one at a time, users alternate, and other commands are handled in between.
 *
 * @throws {ApiError} OVERLOADED when too many large comparisons wait.
 */
export const compareWithLive = async (
  current: StoredForm,
  live: StoredRevision,
  userId: string,
): Promise<PreconditionViolation[]> => {
  const compare = () => breakingViolations(parseSnapshot(live), parseDraft(current))
  if (current.draftJson.length + live.formJson.length <= largeLength) return compare()
  return largeComparisons.run(userId, async () => {
    await setImmediate()
    return compare()
  })
}
