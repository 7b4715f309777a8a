// Entry point of a worker thread: Piscina calls the default export with each task.
export { runDraftTask as default } from './draft-task.ts'
