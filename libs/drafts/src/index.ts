export * from './breaking-violations.ts'
export * from './compare/breaking-changes.ts'
export * from './compare/compare-drafts.ts'
export * from './publish-checks.ts'
