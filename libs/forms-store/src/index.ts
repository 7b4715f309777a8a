export * from './errors.ts'
export { eventFilterFields, matchesEvent, requiredForm } from './events/event-filter.ts'
export * from './events/event-log.ts'
export { changedFields } from './events/recorded-event.ts'
export * from './forms-store.ts'
export {
  type ChangeContext,
  type ChangeMethod,
  type IdentifiedRequest,
  operatorContext,
  RequestReplay,
} from './identified-request.ts'
export { type FormOrderTerm, formFilterFields } from './lists/form-fields.ts'
export * from './open-forms-store.ts'
export * from './resource/form-to-json.ts'
export * from './resource/public-id.ts'
export * from './resource/revision-to-json.ts'
export {
  addSizes,
  type FormRevisions,
  manyRevisions,
  maxCountedRevisions,
  minPruneAgeMs,
  noRevisions,
  type PruneRule,
  type RevisionGrowth,
  type RevisionsSize,
} from './revisions/revision-growth.ts'
export * from './stored-draft.ts'
