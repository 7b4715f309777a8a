export * from './compare/compare-drafts.ts'
export * from './publish-checks.ts'
