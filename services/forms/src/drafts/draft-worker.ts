// Entry point of a worker thread: Piscina calls the export that a task names.
export { comparisonJson as compare } from '../domain/comparison.ts'
export { runDigestTask as digest } from '../requests/digest-request.ts'
export { runDraftTask as write, runRestoreTask as restore } from './draft-task.ts'
