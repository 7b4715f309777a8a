// Entry point of a worker thread: the export that a task names is called. Input is text, which is cheap to send.
import { lowerPriority } from '@fms/scheduling/lower-priority'
import { threadTask } from '@fms/scheduling/worker-threads'
import { breakingChangesOf, violationsOf } from './check-draft.ts'

lowerPriority()

export const violations = threadTask(violationsOf)
export const breaking = threadTask(breakingChangesOf)
