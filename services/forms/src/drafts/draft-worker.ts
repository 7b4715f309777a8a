// The module of a worker thread: Piscina calls its default export with each task.
export { runDraftTask as default } from './draft-task.ts'
